import { Inline } from './prose.tsx'
import type { Member, Shape } from './schema.ts'

/** How many levels are open at first; deeper ones open by their own button. */
const OPEN_LEVELS = 2

/** What is marked: in a request what must be sent, in an answer what may be absent. */
export type Direction = 'in' | 'out'

/** The members of a schema as a nested list: name and type, what bounds it, what it means. */
export function ShapeView({ shape, way, depth = 0 }: { shape: Shape; way: Direction; depth?: number }) {
  const lonely = shape.members.length === 0 && shape.variants.length === 0 && shape.rest === undefined
  if (lonely && depth === 0)
    return (
      <div className="doc-member">
        <ShapeLine shape={shape} />
      </div>
    )
  return (
    <ul className="doc-members">
      {shape.members.map((member) => (
        <MemberView key={member.name} member={member} way={way} depth={depth} />
      ))}
      {shape.rest === undefined ? null : (
        <MemberView
          member={{ name: 'any name', required: false, shape: shape.rest }}
          way={way}
          depth={depth}
          free
        />
      )}
      {shape.variants.map((variant, index) => (
        <MemberView
          key={index}
          member={{ name: `either ${index + 1}`, required: false, shape: variant }}
          way={way}
          depth={depth}
          free
        />
      ))}
    </ul>
  )
}

interface MemberProps {
  member: Member
  way: Direction
  depth: number
  free?: boolean
}

function MemberView({ member, way, depth, free = false }: MemberProps) {
  const { shape } = member
  const inner = shape.members.length + shape.variants.length + (shape.rest === undefined ? 0 : 1)
  const head = (
    <>
      <span className={free ? 'doc-member__n t3' : 'doc-member__n mono'}>{member.name}</span>{' '}
      {free || (way === 'in') !== member.required ? null : (
        <span className="doc-member__r">{way === 'in' ? 'required' : 'may be absent'}</span>
      )}
    </>
  )
  return (
    <li className="doc-member">
      {head}
      <ShapeLine shape={shape} />
      {inner === 0 ? null : (
        <details open={depth < OPEN_LEVELS - 1}>
          <summary className="doc-more">
            {inner === 1 ? '1 member' : `${inner} members`}
            <span className="vh"> of {member.name}</span>
          </summary>
          <ShapeView shape={shape} way={way} depth={depth + 1} />
        </details>
      )}
    </li>
  )
}

/** Type, bounds, allowed values and meaning of one value. */
export function ShapeLine({ shape }: { shape: Shape }) {
  return (
    <>
      <span className="doc-type">
        {shape.label}
        {shape.nullable && shape.label !== 'null' ? ' or null' : ''}
        {shape.bounds.map((bound) => (
          <span key={bound}>, {bound}</span>
        ))}
      </span>
      {shape.description === '' ? null : (
        <p className="doc-member__d">
          <Inline text={shape.description} />
        </p>
      )}
      {shape.values.length === 0 ? null : (
        <p className="doc-values">
          <span className="vh">One of </span>
          {shape.values.map((value) => (
            <code key={value} className="doc-code">
              {value}
            </code>
          ))}
        </p>
      )}
    </>
  )
}
