import { AppError } from '../../domain/errors.ts'
import type { Finding } from '../../domain/workflow/workflow.ts'

/** The error for a workflow that cannot be `deployed` or `run`: every finding, errors first. */
export function findingsError(findings: readonly Finding[], what: 'deployed' | 'run'): AppError {
  const errors = findings.filter(({ level }) => level === 'error')
  const details = [...errors, ...findings.filter(({ level }) => level === 'warning')].map(detailOf)
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see details)` : ''
  return new AppError('INVALID_INPUT', `The workflow cannot be ${what}: ${details[0]?.message}${more}`, { details })
}

function detailOf({ level, path, blockId, blockName, message }: Finding) {
  const inBlock = blockId === null ? '' : `In block "${blockName ?? blockId}" (${blockId}): `
  return { path, message: `${level === 'warning' ? 'Warning: ' : ''}${inBlock}${message}` }
}
