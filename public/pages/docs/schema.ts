import { isObj, list, obj, resolve, str } from './model.ts'
import type { Json, Obj } from './model.ts'

/** A schema as a person reads it: one label, what bounds it, and what is inside. */
export interface Shape {
  label: string
  nullable: boolean
  description: string
  /** Allowed values, as they are written in JSON. */
  values: string[]
  bounds: string[]
  example: Json | undefined
  members: Member[]
  /** The alternatives of oneOf or anyOf, when they are not plain values. */
  variants: Shape[]
  /** Free members of an object that is used as a map. */
  rest: Shape | undefined
}

export interface Member {
  name: string
  required: boolean
  shape: Shape
}

/** A longer pattern says less than the description beside it. */
const PATTERN_CHARS_MAX = 32

/** How deep an example is built; only a schema inside itself gets there. */
const DEPTH_MAX = 8
const emptyShape = (label: string): Shape => ({
  label,
  nullable: false,
  description: '',
  values: [],
  bounds: [],
  example: undefined,
  members: [],
  variants: [],
  rest: undefined,
})

/** Turns a schema into a shape. `seen` are the references on the way down: a schema inside itself becomes its name. */
export function readShape(document: Obj, schema: Json | undefined, seen: readonly string[] = []): Shape {
  const reference = isObj(schema) && typeof schema['$ref'] === 'string' ? schema['$ref'] : undefined
  const name = reference?.split('/').at(-1)
  if (reference !== undefined && seen.includes(reference)) return emptyShape(`${name}, as above`)
  const inner = reference === undefined ? seen : [...seen, reference]
  const flat = merge(document, schema)
  const types = (Array.isArray(flat['type']) ? flat['type'] : [flat['type']]).map(str).filter(Boolean)
  const choices = [...list(flat['oneOf']), ...list(flat['anyOf'])]
  const shape: Shape = {
    ...emptyShape(''),
    nullable: flat['nullable'] === true || types.includes('null'),
    description: str(flat['description']),
    bounds: readBounds(flat),
    example: flat['example'] ?? list(flat['examples'])[0],
  }
  if (choices.length > 0) return withChoices(document, shape, choices, inner)
  const type = types.find((entry) => entry !== 'null')
  if (flat['const'] !== undefined)
    return { ...shape, label: type ?? typeof flat['const'], values: [write(flat['const'])] }
  if (Array.isArray(flat['enum']))
    return { ...shape, label: type ?? 'string', values: flat['enum'].filter((v) => v !== null).map(write) }
  if (type === 'array' || flat['items'] !== undefined) return withItems(document, shape, flat, inner)
  if (type === 'object' || flat['properties'] !== undefined) return withMembers(document, shape, flat, inner)
  if (type === undefined && types.length > 0) return { ...shape, label: 'null' }
  return { ...shape, label: typeLabel(type, str(flat['format'])) }
}

const write = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

function typeLabel(type: string | undefined, format: string): string {
  if (type === undefined) return 'any'
  if (format === 'binary') return 'file'
  if (format === 'date-time') return 'timestamp'
  return format === '' || type !== 'string' ? type : `${type}, ${format}`
}

/** Resolves the reference and folds allOf into one object schema. */
function merge(document: Obj, schema: Json | undefined): Obj {
  const flat = resolve(document, schema)
  const parts = list(flat['allOf']).map((part) => merge(document, part))
  if (parts.length === 0) return flat
  const { allOf: _, ...own } = flat
  const all = [...parts, own]
  return {
    ...Object.assign({}, ...all),
    ...(all.some((part) => part['properties'] !== undefined)
      ? { properties: Object.assign({}, ...all.map((part) => obj(part['properties']))) as Obj }
      : {}),
    required: all.flatMap((part) => list(part['required'])),
  }
}

function withChoices(document: Obj, shape: Shape, choices: Json[], seen: readonly string[]): Shape {
  const read = choices.map((choice) => readShape(document, choice, seen))
  const nullable = shape.nullable || read.some((choice) => choice.label === 'null' || choice.nullable)
  const real = read.filter((choice) => choice.label !== 'null')
  const [first] = real
  if (first === undefined) return { ...shape, label: 'null' }
  // t.Numeric and t.BooleanString say "number, or a string that reads as one": only the first matters to a reader.
  const numeric = real.find(
    (choice) => choice.label === 'number' || choice.label === 'integer' || choice.label === 'boolean',
  )
  if (
    numeric !== undefined &&
    real.every((choice) => choice === numeric || choice.label.startsWith('string'))
  )
    return { ...numeric, ...keepOwn(shape, numeric), nullable }
  if (real.length === 1) return { ...first, ...keepOwn(shape, first), nullable }
  if (real.every((choice) => choice.values.length > 0 && choice.members.length === 0))
    return { ...shape, label: first.label, nullable, values: real.flatMap((choice) => choice.values) }
  const labels = [...new Set(real.map((choice) => choice.label))]
  return {
    ...shape,
    label: labels.length > 3 ? 'one of' : labels.join(' or '),
    nullable,
    variants: plain(real) ? [] : real,
  }
}

const plain = (shapes: Shape[]): boolean =>
  shapes.every(
    (shape) => shape.members.length + shape.values.length + shape.variants.length === 0 && !shape.rest,
  )

const keepOwn = (shape: Shape, inner: Shape) => ({
  description: shape.description || inner.description,
  bounds: [...new Set([...inner.bounds, ...shape.bounds])],
  example: shape.example ?? inner.example,
})

function withItems(document: Obj, shape: Shape, flat: Obj, seen: readonly string[]): Shape {
  const items = readShape(document, flat['items'], seen)
  return {
    ...shape,
    label: `array of ${items.label === 'object' ? 'objects' : items.label}`,
    values: items.values,
    bounds: [...shape.bounds, ...items.bounds.map((bound) => `each ${bound}`)],
    members: items.members,
    variants: items.variants,
    rest: items.rest,
  }
}

function withMembers(document: Obj, shape: Shape, flat: Obj, seen: readonly string[]): Shape {
  const required = new Set(list(flat['required']).map(str))
  const maps = [...Object.values(obj(flat['patternProperties'])), flat['additionalProperties']].filter(isObj)
  return {
    ...shape,
    label: 'object',
    members: Object.entries(obj(flat['properties'])).map(([name, member]) => ({
      name,
      required: required.has(name),
      shape: readShape(document, member, seen),
    })),
    rest: maps[0] === undefined ? undefined : readShape(document, maps[0], seen),
  }
}

function readBounds(flat: Obj): string[] {
  const range = (low: string, high: string, unit: string): string[] => {
    const from = flat[low]
    const to = flat[high] === Number.MAX_SAFE_INTEGER ? undefined : flat[high]
    if (from !== undefined && to !== undefined) return [`${str(from)} to ${str(to)}${unit}`]
    if (from !== undefined) return [`at least ${str(from)}${unit}`]
    return to === undefined ? [] : [`at most ${str(to)}${unit}`]
  }
  return [
    ...range('minimum', 'maximum', ''),
    ...range('minLength', 'maxLength', ' characters'),
    ...range('minItems', 'maxItems', ' items'),
    ...(typeof flat['pattern'] === 'string' && flat['pattern'].length <= PATTERN_CHARS_MAX
      ? [`matches ${flat['pattern']}`]
      : []),
    ...(flat['default'] === undefined || /^Files?$/.test(str(flat['default']))
      ? []
      : [`default ${write(flat['default'])}`]),
  ]
}

/** An example value of a schema: its own example, else built from its members. Used where none is written. */
export function exampleOf(document: Obj, schema: Json | undefined, depth = 0): Json {
  const flat = merge(document, schema)
  const own =
    flat['example'] ?? list(flat['examples'])[0] ?? flat['default'] ?? flat['const'] ?? list(flat['enum'])[0]
  if (own !== undefined) return own
  if (depth > DEPTH_MAX) return null
  const choice = [...list(flat['oneOf']), ...list(flat['anyOf'])][0]
  if (choice !== undefined) return exampleOf(document, choice, depth + 1)
  const types = Array.isArray(flat['type']) ? flat['type'] : [flat['type']]
  const type = types.find((entry) => entry !== 'null')
  if (type === 'array')
    return flat['items'] === undefined ? [] : [exampleOf(document, flat['items'], depth + 1)]
  if (type === 'object' || flat['properties'] !== undefined)
    return Object.fromEntries(
      Object.entries(obj(flat['properties'])).map(([name, member]) => [
        name,
        exampleOf(document, member, depth + 1),
      ]),
    )
  if (type === 'integer' || type === 'number')
    return typeof flat['minimum'] === 'number' ? flat['minimum'] : 0
  if (type === 'boolean') return false
  if (type === 'null' || type === undefined) return null
  return flat['format'] === 'date-time' ? '2026-11-21T09:00:00.000Z' : ''
}
