import { timingSafeEqual } from 'node:crypto'
import { parseTemplate } from '../domain/workflow/reference.ts'

/**
 * Whether a text is the password of a chat or form. `wanted`: the trigger's setting, which may contain `{{NAME}}`.
 * Every wrong password takes the same time. Returns undefined when a variable is not set, because then nobody can be
 * verified.
 */
export function isPassword(given: string, wanted: string, values: ReadonlyMap<string, string>): boolean | undefined {
  const password = filledIn(wanted, values)
  return password === undefined ? undefined : timingSafeEqual(digestOf(given), digestOf(password))
}

function filledIn(text: string, values: ReadonlyMap<string, string>): string | undefined {
  let filled = ''
  for (const segment of parseTemplate(text)) {
    const part = segment.kind === 'environment' ? values.get(segment.name) : segmentText(segment)
    if (part === undefined) return undefined
    filled += part
  }
  return filled
}

/** References have no meaning in a password. */
function segmentText(segment: Exclude<ReturnType<typeof parseTemplate>[number], { kind: 'environment' }>): string {
  return segment.kind === 'text' ? segment.text : segment.source
}

function digestOf(text: string): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(text).digest()
}
