import type { Redactor } from '../../domain/redaction/redactor.ts'

/** Why a value from the log, or from a screen that shows it, is incomplete; undefined when it is complete. */
export function damageIn(value: unknown, secrets: Redactor | undefined): string | undefined {
  if (isCut(value)) return `the log keeps only the beginning of it (it has ${value.size} bytes)`
  const text = JSON.stringify(value) ?? ''
  const hidden = secrets?.secrets.find(({ name }) => text.includes(`{{${name}}}`))
  return hidden && `it holds the secret {{${hidden.name}}}, which the log does not keep`
}

/** Whether the log shortened the value because it was too long. */
function isCut(value: unknown): value is { truncated: true; size: number } {
  if (typeof value !== 'object' || value === null) return false
  const { truncated, size, preview, ...rest } = value as Record<string, unknown>
  return truncated === true && typeof size === 'number' && typeof preview === 'string' && Object.keys(rest).length === 0
}
