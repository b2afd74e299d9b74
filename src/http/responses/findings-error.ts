import { AppError } from '../../domain/errors.ts'
import type { Finding } from '../../domain/workflow/workflow.ts'
import { boundedFindings } from './findings.ts'

/** The most rows in the details of an error, with the one that counts the others. */
const detailsMax = 20

/** The error for a workflow that cannot be `deployed` or `run`: the first findings, errors first. */
export function findingsError(findings: readonly Finding[], what: 'deployed' | 'run'): AppError {
  const errors = findings.filter(({ level }) => level === 'error')
  const sorted = [...errors, ...findings.filter(({ level }) => level === 'warning')]
  const shown = boundedFindings(sorted.length > detailsMax ? sorted.slice(0, detailsMax - 1) : sorted)
  const left = sorted.length > detailsMax ? sorted.length - detailsMax + 1 : 0
  const details = [...shown.map(detailOf), ...(left > 0 ? [{ path: '', message: `And ${left} more.` }] : [])]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see details)` : ''
  return new AppError('INVALID_INPUT', `The workflow cannot be ${what}: ${details[0]?.message}${more}`, { details })
}

function detailOf({ level, path, blockId, blockName, message }: Finding) {
  const inBlock = blockId === null ? '' : `In block "${blockName ?? blockId}" (${blockId}): `
  return { path, message: `${level === 'warning' ? 'Warning: ' : ''}${inBlock}${message}` }
}
