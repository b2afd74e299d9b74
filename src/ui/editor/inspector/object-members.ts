import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'

type Value = Readonly<Record<string, unknown>>

/** The members that have fields: all but the `type`, or those of the type that is chosen. */
export function shownMembers({ properties = {}, membersByType }: ParameterSchema, value: Value) {
  // Of a type that is none there is nothing to fill in.
  const wanted = membersByType && (membersByType[String(value['type'])] ?? [])
  return Object.entries(properties).filter(([name]) => (wanted ? wanted.includes(name) : name !== 'type'))
}

/** The object after another type was chosen: without what means nothing beside it, as secrets of the type before. */
export function objectOfType(schema: ParameterSchema, value: Value, type: string): Value {
  const members = shownMembers(schema, { type }).flatMap(([name, member]) => {
    const kept = value[name] ?? member.enum?.[0]
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return { type, ...Object.fromEntries(members) }
}

/** With another text; one that is empty goes, and an object without members is none. */
export function withMember(value: Value, name: string, text: string): Value | undefined {
  const { [name]: _, ...rest } = value
  const next = text === '' ? rest : { ...value, [name]: text }
  return Object.keys(next).length === 0 ? undefined : next
}

/** What a form shows of an object that has known members; undefined of anything else, as of a text in its place. */
export function shownObject({ type, properties, default: usual }: ParameterSchema, value: unknown): Value | undefined {
  if (type !== 'object' || !properties || Object.keys(properties).length === 0) return undefined
  const shown = value ?? usual ?? {}
  return typeof shown === 'object' && shown !== null && !Array.isArray(shown) ? (shown as Value) : undefined
}
