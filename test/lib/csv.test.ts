import { describe, expect, test } from 'bun:test'
import { csvLine } from '../../src/lib/csv.ts'

describe('a line of CSV', () => {
  const cases: [unknown[], string][] = [
    [['a', 1, true, null, undefined], 'a,1,true,,'],
    [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"'],
    [['=1+1', '+1', '-1', '@x', '\tx'], `'=1+1,'+1,'-1,'@x,'\tx`],
    [[' =cmd|x'], `' =cmd|x`],
    [[-5], '-5'],
    [['a=b', 'x-y'], 'a=b,x-y'],
  ]
  for (const [cells, line] of cases) {
    test(JSON.stringify(cells), () => expect(csvLine(cells as string[])).toBe(`${line}\r\n`))
  }
})
