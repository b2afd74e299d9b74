import type { FormFacts } from '../../http/responses/forms/form-facts.ts'
import { showAccent } from './accent.ts'
import { FormFields } from './form-fields.ts'
import { formSent, leadTo, redirectTo } from './next-page.ts'
import { element, notify, offerSignIn, type Problem, refusalOf, show, unreachable } from './page-parts.ts'

/** The page of a form. It uses no framework, and shows the texts of authors as plain text. */

const address = `/api/forms/${encodeURIComponent(decodeURIComponent(location.pathname.split('/')[2] ?? ''))}`

class FormPage {
  readonly #access = element('access', HTMLFormElement)
  readonly #secret = element('secret', HTMLInputElement)
  readonly #form = element('answer', HTMLFormElement)
  readonly #send = element('send', HTMLButtonElement)
  #password: string | undefined
  #facts: FormFacts | undefined
  #fields: FormFields | undefined

  constructor() {
    this.#access.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#password = this.#secret.value
      if (this.#fields) void this.#submit()
      else void this.load()
    })
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#submit()
    })
  }

  async load(): Promise<void> {
    notify('')
    try {
      const response = await fetch(address, { headers: this.#headers() })
      const body = (await response.json()) as FormFacts & Problem
      if (response.ok) this.#open(body)
      else if (response.status === 401) this.#askForPassword(body.error ?? '')
      else notify(body.error ?? 'The form cannot be shown.', 'error')
    } catch {
      notify('The service cannot be reached. Reload the page to try again.', 'error')
    }
  }

  #open(facts: FormFacts): void {
    this.#facts = facts
    document.title = facts.title
    element('title', HTMLElement).textContent = facts.title
    show('message', facts.description ?? '')
    showAccent(facts.accent)
    if (!facts.maySend) {
      if (facts.access === 'password') this.#askForPassword('')
      else offerSignIn(facts.problem ?? '', () => location.reload())
      return
    }
    this.#access.hidden = true
    this.#fields = new FormFields(element('fields', HTMLElement), facts.fields)
    this.#form.hidden = false
  }

  #askForPassword(message: string): void {
    this.#access.hidden = false
    notify(message, 'error')
    this.#secret.value = ''
    this.#secret.focus()
  }

  async #submit(): Promise<void> {
    const fields = this.#fields
    notify('')
    element('sign-in', HTMLElement).hidden = true
    if (!fields || !this.#facts || !fields.check()) return
    const body = new FormData()
    fields.addTo(body)
    this.#send.disabled = true
    notify('Sending…', 'busy')
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: this.#headers(),
        body,
        // A redirect of the workflow is not followed.
        redirect: 'manual',
      })
      if (response.ok || response.type === 'opaqueredirect') await this.#finish(response)
      else this.#refuse((await response.json().catch(() => ({}))) as Problem)
    } catch {
      notify(unreachable, 'error')
    } finally {
      this.#send.disabled = false
    }
  }

  async #finish(response: Response): Promise<void> {
    const { thanks = null, redirect = null, accent = null, respond } = this.#facts ?? {}
    const text = await response.text().catch(() => '')
    const next = respond === 'next' ? nextIn(text) : undefined
    if (next !== undefined) {
      leadTo(next, { thanks, redirect, accent })
      return
    }
    if (redirectTo(redirect)) return
    this.#form.hidden = true
    this.#access.hidden = true
    show('message', '')
    const isText = response.headers.get('content-type')?.startsWith('text/plain') === true
    const said = respond === 'workflow' && isText ? text.slice(0, textCharsMax) : ''
    notify(thanks ?? (said || formSent))
  }

  /** Shows why the form was refused. The form keeps everything that people have typed. */
  #refuse(problem: Problem): void {
    const { error, code, details = [] } = problem
    if (code === 'INVALID_CREDENTIALS') {
      this.#askForPassword(error ?? '')
      return
    }
    if (code === 'SIGN_IN_REQUIRED' || code === 'API_KEY_REQUIRED') {
      offerSignIn('Your session has ended. Sign in, and send the form again.')
      return
    }
    const others = this.#fields?.showProblems(details) ?? []
    const isShown = details.length > 0 && others.length === 0
    notify(
      isShown
        ? 'Correct the marked fields, and send the form again.'
        : (refusalOf(problem) ?? 'The form could not be sent.'),
      'error',
    )
  }

  #headers(): Record<string, string> {
    // A header value can contain only Latin-1 characters.
    return this.#password === undefined ? {} : { 'x-form-password': encodeURIComponent(this.#password) }
  }
}

/** The most characters of a workflow's response that the page shows. */
const textCharsMax = 10_000

function nextIn(text: string): string | undefined {
  try {
    const { next } = JSON.parse(text) as { next?: unknown }
    return typeof next === 'string' ? next : undefined
  } catch {
    return undefined
  }
}

void new FormPage().load()
