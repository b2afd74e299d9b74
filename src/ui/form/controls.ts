import type { FieldFacts } from '../../http/responses/forms/form-facts.ts'

/** The control of one field. `focus` moves the focus to its input. */
export type Control = {
  row: HTMLElement
  /** The text, boolean, list of texts or files that people entered. Undefined if they entered nothing. */
  value(): string | boolean | readonly string[] | readonly File[] | undefined
  showProblem(message: string | undefined): void
  focus(): void
}

type Typed = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** `id`: unique in the page. */
export function controlOf(field: FieldFacts, id: string): Control {
  if (field.type === 'array' && field.options.length > 0) return choicesOf(field, id)
  if (field.type === 'boolean') return tickOf(field, id)
  return typedOf(field, id)
}

/** A labelled control for a text, number, date, choice or files. */
function typedOf(field: FieldFacts, id: string): Control {
  const control = typedFor(field)
  control.id = id
  control.name = field.name
  control.required = field.required
  const label = document.createElement('label')
  label.htmlFor = id
  label.textContent = labelText(field)
  const { row, showProblem } = rowOf(field, id, control, [label, control])
  const value = () => {
    if (control instanceof HTMLInputElement && control.type === 'file') return [...(control.files ?? [])]
    return control.value === '' ? undefined : control.value
  }
  return { row, value, showProblem, focus: () => control.focus() }
}

function typedFor({ type, format, options }: FieldFacts): Typed {
  if (options.length > 0) {
    const select = document.createElement('select')
    for (const option of ['', ...options]) select.append(new Option(option === '' ? 'Select…' : option, option))
    return select
  }
  if (format === 'long' || type === 'object' || type === 'array') {
    const area = document.createElement('textarea')
    area.rows = 4
    if (type === 'object') area.placeholder = '{ }'
    if (type === 'array') area.placeholder = '[ ]'
    return area
  }
  const input = document.createElement('input')
  input.type = inputTypeOf(type, format)
  if (type === 'number') input.inputMode = 'decimal'
  if (type === 'files') input.multiple = true
  if (format === 'email') input.autocomplete = 'email'
  return input
}

function inputTypeOf(type: string, format: FieldFacts['format']): string {
  if (type === 'files') return 'file'
  return format === 'email' || format === 'url' || format === 'date' ? format : 'text'
}

/** A checkbox. */
function tickOf(field: FieldFacts, id: string): Control {
  const { label, box } = tick(field.label ?? field.name, id)
  box.name = field.name
  const { row, showProblem } = rowOf(field, id, box, [label])
  return { row, value: () => box.checked, showProblem, focus: () => box.focus() }
}

/** A group of checkboxes, one for each choice of a list. */
function choicesOf(field: FieldFacts, id: string): Control {
  const group = document.createElement('fieldset')
  const legend = document.createElement('legend')
  legend.textContent = labelText(field)
  group.append(legend)
  const boxes = field.options.map((option, number) => {
    const { label, box } = tick(option, `${id}-${number}`)
    box.value = option
    group.append(label)
    return box
  })
  const { row, showProblem } = rowOf(field, id, group, [group])
  const value = () => boxes.filter(({ checked }) => checked).map((box) => box.value)
  return { row, value, showProblem, focus: () => boxes[0]?.focus() }
}

function tick(text: string, id: string): { label: HTMLLabelElement; box: HTMLInputElement } {
  const label = document.createElement('label')
  label.className = 'form-tick'
  label.htmlFor = id
  const box = document.createElement('input')
  box.type = 'checkbox'
  box.id = id
  label.append(box, text)
  return { label, box }
}

/** A field with its description and its problem. `described`: the element that both describe. */
function rowOf(field: FieldFacts, id: string, described: HTMLElement, parts: readonly HTMLElement[]) {
  const row = document.createElement('div')
  row.className = 'form-field'
  const note = paragraph(`${id}-note`, field.description ?? '')
  const problem = paragraph(`${id}-error`, '')
  problem.className = 'form-error'
  described.setAttribute('aria-describedby', `${note.id} ${problem.id}`)
  row.append(...parts, note, problem)
  const showProblem = (message: string | undefined) => {
    problem.textContent = message ?? ''
    problem.hidden = message === undefined
    if (message === undefined) described.removeAttribute('aria-invalid')
    else described.setAttribute('aria-invalid', 'true')
  }
  return { row, showProblem }
}

function labelText({ label, name, required }: FieldFacts): string {
  return (label ?? name) + (required ? '' : ' (optional)')
}

function paragraph(id: string, text: string): HTMLElement {
  const made = document.createElement('p')
  made.id = id
  made.textContent = text
  made.hidden = text === ''
  return made
}
