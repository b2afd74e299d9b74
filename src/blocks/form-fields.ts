import { mayChoose } from '../domain/workflow/field-kinds.ts'
import type { FormField } from '../domain/workflow/form.ts'
import { labelOf } from '../domain/workflow/form-values.ts'
import type { ParameterFinding } from '../engine/block.ts'

/** Checks what the schema of form fields cannot. `reserved`: names that fields cannot have. `path`: of the list. */
export function checkFields(
  fields: unknown,
  { path = 'fields', reserved = new Set<string>() }: { path?: string; reserved?: ReadonlySet<string> } = {},
): ParameterFinding[] {
  if (!Array.isArray(fields)) return []
  const seen = new Set<string>()
  return (fields as FormField[]).flatMap((field, index) => {
    const { name, type, format, options } = field
    const at = `${path}.${index}`
    const isDuplicate = seen.has(name)
    seen.add(name)
    if (reserved.has(name)) {
      return error('RESERVED_FIELD', `${at}.name`, `Rename the field "${name}": the block has an output of this name.`)
    }
    if (isDuplicate) return error('DUPLICATE_FIELD', `${at}.name`, `Two fields have the name "${name}". Rename one.`)
    if (format !== undefined && format !== 'line' && type !== 'string') {
      return error('INVALID_FIELD', `${at}.format`, `${labelOf(field)} cannot have a format: only texts have one.`)
    }
    if (options === undefined || options.length === 0) return []
    if (!mayChoose(field)) {
      const message = `${labelOf(field)} cannot have choices: only texts, numbers and lists have them.`
      return error('INVALID_FIELD', `${at}.options`, message)
    }
    if (options.some((option) => option.trim() === '')) {
      return error('INVALID_FIELD', `${at}.options`, `A choice of ${labelOf(field)} is empty. Remove it.`)
    }
    return []
  })
}

function error(code: string, path: string, message: string): ParameterFinding[] {
  return [{ level: 'error', code, path, message }]
}
