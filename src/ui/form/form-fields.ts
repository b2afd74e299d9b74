import { type FormField, labelOf, readForm } from '../../domain/workflow/form-values.ts'
import type { FieldFacts } from '../../http/responses/forms/form-facts.ts'
import { type Control, controlOf } from './controls.ts'
import type { Problem } from './page-parts.ts'

/** The fields of a form on a page: their controls, values and problems. */
export class FormFields {
  readonly #fields: readonly FormField[]
  readonly #controls: ReadonlyMap<string, Control>

  constructor(box: HTMLElement, fields: readonly FieldFacts[]) {
    this.#fields = fields.map(fieldOf)
    this.#controls = new Map(fields.map((field, number) => [field.name, controlOf(field, `field-${number}`)]))
    for (const { row } of this.#controls.values()) box.append(row)
  }

  /** Shows the problems of the fields, and moves to the first one. `isPartial`: required fields may be missing. */
  check(options: { isPartial?: boolean } = {}): boolean {
    const values = Object.fromEntries(Array.from(this.#controls, ([name, control]) => [name, control.value()]))
    const reading = readForm(values, this.#fields, options)
    const problems = [...(reading.ok ? [] : reading.details), ...this.#fields.flatMap((field) => this.#tooLarge(field))]
    this.showProblems(problems)
    return problems.length === 0
  }

  /** Shows each problem beside its field. Returns those that belong to no field. */
  showProblems(problems: NonNullable<Problem['details']>): NonNullable<Problem['details']> {
    const byName = new Map(problems.map((problem) => [this.#nameIn(problem.path), problem] as const).toReversed())
    for (const [name, control] of this.#controls) control.showProblem(byName.get(name)?.message)
    const first = this.#fields.find(({ name }) => byName.has(name))
    if (first) this.#controls.get(first.name)?.focus()
    return problems.filter(({ path }) => this.#nameIn(path) === undefined)
  }

  /** Adds the values to the body of a request. `prefix`: the first part of their names. */
  addTo(body: FormData, prefix = ''): void {
    for (const [name, control] of this.#controls) {
      const value = control.value()
      if (value === undefined) continue
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each instanceof File) body.append(prefix + name, each, each.name)
        else body.append(prefix + name, String(each))
      }
    }
  }

  /** The field of a problem. The path of the problem may lead into a list of files. */
  #nameIn(path: string): string | undefined {
    if (this.#controls.has(path)) return path
    const [start = ''] = path.split('[')
    return this.#controls.has(start) ? start : undefined
  }

  #tooLarge(field: FormField): { path: string; message: string }[] {
    const value = this.#controls.get(field.name)?.value()
    const files = Array.isArray(value) ? (value as readonly unknown[]) : []
    const large = files.find((file): file is File => file instanceof File && file.size > fileBytesMax)
    if (!large) return []
    return [
      { path: field.name, message: `${labelOf(field)}: “${large.name}” is larger than 20 MB. Choose a smaller file.` },
    ]
  }
}

/** The maximum size of one file. The service checks it, too. */
const fileBytesMax = 20 * 1_048_576

function fieldOf({ name, type, format, label, options, required }: FieldFacts): FormField {
  return {
    ...{ name, type: type as FormField['type'], options: [...options], required },
    ...(format === null ? {} : { format }),
    ...(label === null ? {} : { label }),
  }
}
