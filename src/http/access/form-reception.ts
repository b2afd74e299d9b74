import { AppError } from '../../domain/errors.ts'
import type { FormParameters } from '../../domain/workflow/form.ts'
import { type FormBody, receiveFormBody } from '../requests/form-body.ts'
import type { FormServices } from '../run-services.ts'
import { type ServerPort, visitorOf } from './connection.ts'
import type { Door, ResponseSet } from './door.ts'
import { assertMember } from './page-members.ts'
import { assertPassword } from './page-password.ts'
import { assertAllowed } from './rate-headers.ts'

/** A request to a form. */
export type FormCall = {
  request: Request
  server: ServerPort | null
  set: ResponseSet
  workflow: { workflowId: string; workspaceId: string }
  form: FormParameters
}

/** Receives forms: checks who is calling and the limits of visitors, and reads the body. */
export class FormReception {
  readonly #services: FormServices
  readonly #door: Door

  constructor(services: FormServices, door: Door) {
    this.#services = services
    this.#door = door
  }

  /** Throws when the caller may not send the form, or when a visitor sends too many. */
  async admit(call: FormCall): Promise<void> {
    await this.assertWelcome(call)
    const { workflow, form } = call
    if (!isAnonymous(form)) return
    const { limits, clock } = this.#services
    const window = limits.takeFormVisitor(workflow.workflowId, visitorOf(call))
    assertAllowed(window, clock.now(), 'forms from your address')
  }

  /** Throws when the caller may not see the form. */
  async assertWelcome(call: FormCall): Promise<void> {
    const { request, set, workflow, form } = call
    if (form.access === 'public') return
    if (form.access === 'members') {
      const { workspaceId } = workflow
      return await assertMember(this.#door, { request, set, workspaceId, kind: 'form', missing: noForm() })
    }
    await assertPassword(this.#services, {
      ...{ request, ...workflow, visitor: visitorOf(call), password: form.password ?? '' },
      ...{ kind: 'form', header: 'X-Form-Password' },
    })
  }

  /** See `receiveFormBody`. */
  receive<Result>(call: FormCall, use: (body: FormBody) => Promise<Result>): Promise<Result> {
    const { request, form } = call
    const visitor = isAnonymous(form) ? visitorOf(call) : undefined
    return receiveFormBody(this.#services, { request, fields: form.fields, visitor }, use)
  }
}

/** Whether the senders of this form are anonymous: they must not learn how the workflow is built or who owns it. */
export function isAnonymous({ access }: FormParameters): boolean {
  return access !== 'members'
}

export function noForm(): AppError {
  const message = 'No form is open at this address: it was closed, or the link is wrong. Ask for a new link.'
  return new AppError('NOT_FOUND', message)
}
