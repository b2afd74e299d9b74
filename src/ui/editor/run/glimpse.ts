/** How much of an output a card and a line show. */
export type Glimpse = {
  /** The number of items, when the output is a list. */
  items: number | undefined
  /** The value, or the first one, in a few words. */
  text: string
}

/** The part of an output that says most, in a few words. Undefined when there is none. */
export function glimpseOf(output: unknown): Glimpse | undefined {
  const value = mainValue(output)
  if (value === undefined || value === null || value === '') return undefined
  if (!Array.isArray(value)) return { items: undefined, text: shortText(value) }
  const count = value.length === 1 ? '1 item' : `${value.length} items`
  return { items: value.length, text: value.length === 0 ? count : cut(`${count} · ${shortText(value[0])}`) }
}

/** The members that hold the result of a block, most telling first. */
const mainMembers = ['results', 'result', 'data', 'content', 'selectedRoute', 'selectedOption', 'input']

function mainValue(output: unknown): unknown {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output
  const members = output as Record<string, unknown>
  for (const name of mainMembers) {
    if (members[name] !== undefined && members[name] !== null) return members[name]
  }
  const first = firstMember(members)
  return first === undefined || mainMembers.includes(first[0]) ? undefined : members
}

function firstMember(value: object): [string, unknown] | undefined {
  for (const name in value) {
    if (Object.hasOwn(value, name)) return [name, (value as Record<string, unknown>)[name]]
  }
  return undefined
}

/** A value in a few words. Looks at the first member only, as values may be large. */
function shortText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return cut(`“${value.slice(0, charsMax)}”`)
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`
  if (typeof value !== 'object' || value === null) return String(value)
  const first = firstMember(value)
  if (!first || depth > 0) return '{…}'
  return cut(`${first[0].slice(0, charsMax)}: ${shortText(first[1], depth + 1)}`)
}

function cut(text: string): string {
  return text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text
}

const charsMax = 40
