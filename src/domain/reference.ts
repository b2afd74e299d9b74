import { normaliseName } from './workflow.ts'

/** The `<block.path>` and `{{NAME}}` templates: pure reading of text. What a name means is decided by who compiles it. */

export type PathStep = string | number

export type Segment =
  | { kind: 'text'; text: string }
  /** `name` is normalised; `source` is the text as written, brackets included. */
  | { kind: 'reference'; source: string; name: string; path: readonly PathStep[] }
  | { kind: 'environment'; source: string; name: string }

/**
 * Splits text into its literal parts and what looks like a reference or an environment variable.
 * Pure syntax: `<b.c>` is a segment whether or not a block `b` exists.
 */
export function parseTemplate(text: string): Segment[] {
  const segments: Segment[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    const { environment, name, path } = match.groups as Record<string, string | undefined>
    if (match.index > from) segments.push({ kind: 'text', text: text.slice(from, match.index) })
    from = match.index + match[0].length
    if (environment !== undefined) segments.push({ kind: 'environment', source: match[0], name: environment })
    else {
      segments.push({
        kind: 'reference',
        source: match[0],
        name: normaliseName(name ?? ''),
        path: parsePath(path ?? ''),
      })
    }
  }
  if (from < text.length) segments.push({ kind: 'text', text: text.slice(from) })
  return segments
}

/** Whether text holds anything that could be a segment other than literal text. Cheap. */
export function mayHoldSegments(text: string): boolean {
  return text.includes('<') || text.includes('{{')
}

/** The value at `path`; undefined when any step is absent. Only own members count: nothing of a prototype is reachable. */
export function readPath(value: unknown, path: readonly PathStep[]): unknown {
  let current = value
  for (const step of path) {
    if (current === null || current === undefined) return undefined
    if (!Object.hasOwn(current as object, step)) return undefined
    current = (current as Record<PathStep, unknown>)[step]
  }
  return current
}

/** A value inside text: a string as it is, null and absent as nothing, anything else as JSON. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return JSON.stringify(value) ?? ''
}

const key = String.raw`\.[^\s.[\]<>"'\x60(){},;=&|!?:+*/\\%^~]+`
const quoted = String.raw`\[(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\]`
const steps = String.raw`(?:${key}|\[\d{1,9}\]|${quoted})+`
// A name starts with no space, so that the comparison `a < b.c` is none; it is short, so that reading stays linear.
const pattern = new RegExp(
  String.raw`\{\{(?<environment>[A-Za-z_][A-Za-z0-9_]*)\}\}|<(?<name>[^\s<>.][^<>.\n]{0,199}?)(?<path>${steps})>`,
  'gu',
)
const step = /\.(?<key>[^.[\]]+)|\[(?<index>\d+)\]|\[(?<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]/gu

/** The steps of `.data.items[0]["any key"]`. What is no step is left out. */
export function parsePath(text: string): PathStep[] {
  return Array.from(text.matchAll(step), ({ groups }) => {
    const { key, index, quoted } = groups as Record<string, string | undefined>
    if (index !== undefined) return Number(index)
    if (quoted !== undefined) return quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    return key ?? ''
  })
}
