/** Parses the `<block.path>` and `{{NAME}}` templates. The compiler decides what a name refers to. */

export type PathStep = string | number

export type Segment =
  | { kind: 'text'; text: string }
  /** `name` is normalised; `source` is the text as written, brackets included. */
  | { kind: 'reference'; source: string; name: string; path: readonly PathStep[] }
  | { kind: 'environment'; source: string; name: string }

/**
 * Splits text into literal parts, possible references and possible environment variables.
 * Purely syntactic: `<b.c>` is a segment whether or not a block `b` exists.
 */
export function parseTemplate(text: string): Segment[] {
  return [...segmentsOf(text)]
}

/** The same, one segment at a time. */
export function* segmentsOf(text: string): Generator<Segment, void> {
  let from = 0
  for (const match of text.matchAll(pattern)) {
    const { environment, name, path } = match.groups as Record<string, string | undefined>
    if (match.index > from) yield { kind: 'text', text: text.slice(from, match.index) }
    from = match.index + match[0].length
    if (environment !== undefined) yield { kind: 'environment', source: match[0], name: environment }
    else {
      yield {
        kind: 'reference',
        source: match[0],
        name: normaliseName(name ?? ''),
        path: parsePath(path ?? ''),
      }
    }
  }
  if (from < text.length) yield { kind: 'text', text: text.slice(from) }
}

/** The form in which block names are compared: lower case, without spaces. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replaceAll(/\s+/g, '')
}

/** Whether text ends inside a JSON string. */
export function endsInString(text: string, startsInString: boolean): boolean {
  let inString = startsInString
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') inString = !inString
    else if (inString && text[at] === '\\') at += 1
  }
  return inString
}

/** Whether the text may contain anything but literal text. Cheap. */
export function mayHoldSegments(text: string): boolean {
  return text.includes('<') || text.includes('{{')
}

/** The value at `path`; undefined when a step is absent. Reads own members only, so prototypes are not reachable. */
export function readPath(value: unknown, path: readonly PathStep[]): unknown {
  let current = value
  for (const step of path) {
    if (current === null || current === undefined) return undefined
    if (!Object.hasOwn(current as object, step)) return undefined
    current = (current as Record<PathStep, unknown>)[step]
  }
  return current
}

/** A value inside text: a string unchanged, null and absent as an empty string, anything else as JSON. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return JSON.stringify(value) ?? ''
}

const key = String.raw`\.[^\s.[\]<>"'\x60(){},;=&|!?:+*/\\%^~]+`
const quoted = String.raw`\[(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\]`
const steps = String.raw`(?:${key}|\[\d{1,9}\]|${quoted})+`
// A name does not start with a space, so that the comparison `a < b.c` is not a reference. Its length is limited, so
// that parsing stays linear.
const pattern = new RegExp(
  String.raw`\{\{(?<environment>[A-Za-z_][A-Za-z0-9_]*)\}\}|<(?<name>[^\s<>.][^<>.\n]{0,199}?)(?<path>${steps})>`,
  'gu',
)
const step = /\.(?<key>[^.[\]]+)|\[(?<index>\d+)\]|\[(?<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]/gu

/** The steps of `.data.items[0]["any key"]`. Ignores anything that is not a step. */
export function parsePath(text: string): PathStep[] {
  return Array.from(text.matchAll(step), ({ groups }) => {
    const { key, index, quoted } = groups as Record<string, string | undefined>
    if (index !== undefined) return Number(index)
    if (quoted !== undefined) return quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    return key ?? ''
  })
}
