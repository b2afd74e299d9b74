import { clip } from '../../domain/errors.ts'
import type { Finding } from '../../domain/workflow/workflow.ts'

/** The most findings in a response. The editor shows them at their blocks; nobody reads more at once. */
export const findingsMax = 100
/** The most bytes of their JSON text, so that a response about a faulty document stays small. */
const findingsBytesMax = 49_152
const messageCharsMax = 500
const pathCharsMax = 300

/** The findings for a response. When there are too many, errors come first, and the last one counts the others. */
export function boundedFindings(findings: readonly Finding[]): Finding[] {
  const first = findings.slice(0, findingsMax).map(clipped)
  if (findings.length <= findingsMax && countThatFit(first) === first.length) return first
  const errors = findings.filter(({ level }) => level === 'error')
  const candidates = [...errors, ...findings.filter(({ level }) => level !== 'error')].slice(0, findingsMax - 1)
  const clippedOnes = candidates.map(clipped)
  const shown = clippedOnes.slice(0, countThatFit(clippedOnes))
  const level = shown.length < errors.length ? 'error' : 'warning'
  const message = `And ${findings.length - shown.length} more.`
  return [...shown, { level, code: 'MORE_FINDINGS', path: '', blockId: null, blockName: null, message }]
}

function countThatFit(findings: readonly Finding[]): number {
  let bytes = 0
  const end = findings.findIndex((finding) => {
    bytes += Buffer.byteLength(JSON.stringify(finding))
    return bytes > findingsBytesMax
  })
  return end === -1 ? findings.length : end
}

/** A message may quote a text of the document that has megabytes. */
function clipped({ path, message, ...rest }: Finding): Finding {
  return { ...rest, path: clip(path, pathCharsMax), message: clip(message, messageCharsMax) }
}
