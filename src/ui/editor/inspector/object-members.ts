import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'

type Value = Readonly<Record<string, unknown>>
type Members = Readonly<Record<string, ParameterSchema>>

/** The members that get a field: those of the selected type, or all except `type`. */
export function shownMembers({ properties = {}, membersByType }: ParameterSchema, value: Value) {
  // An unknown type has no members.
  const wanted = membersByType && (membersByType[String(value['type'])] ?? [])
  return Object.entries(properties).filter(([name]) => (wanted ? wanted.includes(name) : name !== 'type'))
}

/** Whether a parameter, or a member of one, applies to the other parameters of the block, as its schema says. */
export function applies({ when, properties }: ParameterSchema, params: Value): boolean {
  if (when) {
    const chosen = params[when.parameter]
    return when.has.some((one) => (Array.isArray(chosen) ? chosen.includes(one) : chosen === one))
  }
  // An object none of whose members applies would be an empty field.
  const members = Object.values(properties ?? {})
  return !members.some((member) => member.when) || members.some((member) => applies(member, params))
}

/**
 * The parameters to change when one of them is set: also objects with members that the new value makes meaningless,
 * such as the options of another operation.
 */
export function changesOf(properties: Members, params: Value, name: string, value: unknown): Value {
  const changes: Record<string, unknown> = { [name]: value }
  const next = { ...params, [name]: value }
  for (const [other, schema] of Object.entries(properties)) {
    const object = shownObject(schema, params[other])
    if (params[other] === undefined || !object) continue
    const kept = Object.entries(object).filter(([member]) => {
      const of = schema.properties?.[member]
      return of?.when?.parameter !== name || applies(of, next)
    })
    if (kept.length === Object.keys(object).length) continue
    changes[other] = kept.length === 0 ? undefined : Object.fromEntries(kept)
  }
  return changes
}

/**
 * The object after a change of type, without members of the previous type, such as its secrets. Undefined without a
 * type.
 */
export function objectOfType(schema: ParameterSchema, value: Value, type: string): Value | undefined {
  if (type === '') return undefined
  const members = shownMembers(schema, { type }).flatMap(([name, member]) => {
    const kept = value[name] ?? member.enum?.[0]
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return { type, ...Object.fromEntries(members) }
}

/** Sets one member. Empty text removes it; an object without members becomes undefined. Digits become a number. */
export function withMember(value: Value, name: string, text: string, member?: ParameterSchema): Value | undefined {
  const { [name]: _, ...rest } = value
  const isNumber = (member?.type === 'integer' || member?.type === 'number') && /^-?\d+(\.\d+)?$/.test(text.trim())
  const next = text === '' ? rest : { ...value, [name]: isNumber ? Number(text) : text }
  return Object.keys(next).length === 0 ? undefined : next
}

/**
 * The object that the form shows, if the parameter has known members; undefined for anything else, such as a template.
 */
export function shownObject({ type, properties, default: usual }: ParameterSchema, value: unknown): Value | undefined {
  if (type !== 'object' || !properties || Object.keys(properties).length === 0) return undefined
  const shown = value ?? usual ?? {}
  return typeof shown === 'object' && shown !== null && !Array.isArray(shown) ? (shown as Value) : undefined
}
