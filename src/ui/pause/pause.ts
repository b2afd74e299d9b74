/** The page on which people answer a run. It uses no framework, and shows the texts of authors as plain text. */

type AskedField = {
  name: string
  type: string
  label: string | null
  description: string | null
  options: readonly string[]
  required: boolean
}

type Asked = {
  kind: 'approval' | 'call' | 'wait'
  title: string
  message: string
  fields: readonly AskedField[]
  until: string | null
  required: number
  answers: number
  by: string | null
}

type Problem = { error?: string; code?: string; details?: readonly { path: string; message: string }[] }

const address = `/api/pauses/${encodeURIComponent(decodeURIComponent(location.pathname.split('/')[2] ?? ''))}`

class PausePage {
  readonly #asked: Asked
  readonly #form = element('answer', HTMLFormElement)
  readonly #fields = element('fields', HTMLElement)
  readonly #buttons = [element('approve', HTMLButtonElement), element('reject', HTMLButtonElement)]

  constructor(asked: Asked) {
    this.#asked = asked
    document.title = asked.title
    element('title', HTMLElement).textContent = asked.title
    show('message', asked.message)
    element('facts', HTMLElement).textContent = factsOf(asked)
    this.#fields.append(...asked.fields.map(rowOf))
    this.#form.hidden = false
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#answer(true)
    })
    this.#buttons[1]!.addEventListener('click', () => void this.#answer(false))
  }

  async #answer(approved: boolean): Promise<void> {
    for (const button of this.#buttons) button.disabled = true
    this.#showProblems([])
    notify('')
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ approved, fields: this.#values() }),
      })
      const body = (await response.json()) as Problem & { outcome?: string }
      if (response.ok) {
        this.#form.hidden = true
        const mustWait = body.outcome === 'waiting for others'
        notify(mustWait ? 'Thank you. The run waits for the answers of others.' : thanks(approved))
        return
      }
      if (response.status === 409) this.#form.hidden = true
      this.#showProblems(body.details ?? [])
      notify(body.error ?? 'The answer could not be sent.', 'error')
    } catch {
      notify('The service cannot be reached. Check your connection, and try again.', 'error')
    } finally {
      for (const button of this.#buttons) button.disabled = false
    }
  }

  #values(): Record<string, unknown> {
    return Object.fromEntries(
      this.#asked.fields.flatMap(({ name, type }) => {
        const control = this.#controlOf(name)
        if (control instanceof HTMLInputElement && control.type === 'checkbox') return [[name, control.checked]]
        const text = control?.value ?? ''
        if (text === '') return []
        return [[name, type === 'object' || type === 'array' ? jsonOf(text) : text]]
      }),
    )
  }

  #controlOf(name: string): HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | undefined {
    const control = this.#form.elements.namedItem(name)
    return control instanceof HTMLElement ? (control as HTMLInputElement) : undefined
  }

  #showProblems(problems: NonNullable<Problem['details']>): void {
    const byName = new Map(problems.map(({ path, message }) => [path, message]))
    for (const { name } of this.#asked.fields) {
      const control = this.#controlOf(name)
      const text = document.getElementById(`${control?.id}-error`)
      if (!control || !text) continue
      const message = byName.get(name)
      text.textContent = message ?? ''
      text.hidden = message === undefined
      if (message === undefined) control.removeAttribute('aria-invalid')
      else control.setAttribute('aria-invalid', 'true')
    }
    const [first] = problems
    if (first) this.#controlOf(first.path)?.focus()
  }
}

/** A field with its label, its description and a place for its error. `number`: counts the fields. */
function rowOf(field: AskedField, number: number): HTMLElement {
  const row = document.createElement('div')
  row.className = 'pause-field'
  const control = controlFor(field)
  control.id = `field-${number}`
  control.name = field.name
  control.required = field.required && field.type !== 'boolean'
  control.setAttribute('aria-describedby', `${control.id}-note ${control.id}-error`)
  const label = document.createElement('label')
  label.htmlFor = control.id
  label.textContent = (field.label ?? field.name) + (field.required ? '' : ' (optional)')
  const note = paragraph(`${control.id}-note`, field.description ?? '')
  const error = paragraph(`${control.id}-error`, '')
  error.className = 'pause-error'
  row.append(label, control, note, error)
  return row
}

function paragraph(id: string, text: string): HTMLElement {
  const made = document.createElement('p')
  made.id = id
  made.textContent = text
  made.hidden = text === ''
  return made
}

function controlFor({ type, options }: AskedField): HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement {
  if (options.length > 0) {
    const select = document.createElement('select')
    for (const option of ['', ...options]) select.append(new Option(option === '' ? 'Select…' : option, option))
    return select
  }
  if (type === 'object' || type === 'array') return document.createElement('textarea')
  const input = document.createElement('input')
  input.type = type === 'boolean' ? 'checkbox' : 'text'
  if (type === 'number') input.inputMode = 'decimal'
  return input
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function factsOf({ until, required, answers, by }: Asked): string {
  const end = until === null ? '' : `Answer before ${new Date(until).toLocaleString()}.`
  const others = required > 1 ? `${answers} of ${required} people have approved.` : ''
  return [by === null ? '' : `You answer as ${by}.`, others, end].filter(Boolean).join(' ')
}

function thanks(approved: boolean): string {
  return approved ? 'Approved. You can close this page.' : 'Rejected. You can close this page.'
}

function notify(text: string, kind = ''): void {
  const notice = element('notice', HTMLElement)
  notice.textContent = text
  notice.dataset['kind'] = kind
  notice.hidden = text === ''
  if (text !== '' && kind === '') notice.focus()
}

function show(id: string, text: string): void {
  const shown = element(id, HTMLElement)
  shown.textContent = text
  shown.hidden = text === ''
}

function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`The page has no element ${id}`)
  return found
}

async function open(): Promise<void> {
  try {
    const response = await fetch(address)
    const body = (await response.json()) as Asked & Problem
    if (response.ok && body.kind === 'approval') new PausePage(body)
    else if (response.ok) notify('This run waits for another service, and not for a person.', 'error')
    else {
      notify(body.error ?? 'The question cannot be shown.', 'error')
      element('sign-in', HTMLElement).hidden = body.code !== 'SIGN_IN_REQUIRED'
    }
  } catch {
    notify('The service cannot be reached. Reload the page to try again.', 'error')
  }
}

void open()
