import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { StoredPause } from '../../../domain/run/pause.ts'
import { assertMay, type Caller, type Need, roleOf } from '../../access/auth.ts'
import { assertMayAnswer } from '../../access/pause-access.ts'
import { readJsonBody } from '../../requests/body.ts'
import { receiveFormBody } from '../../requests/form-body.ts'
import type { Services } from '../../services.ts'
import { giveAnswer } from './give-answer.ts'

/** `contextId`: absent for the only open pause of the run. */
export type ResumePath = { workflowId: string; executionId: string; contextId?: string }

/** The pauses of a run, open or not. */
export async function pausesOf(
  { store }: Pick<Services, 'store'>,
  caller: Caller,
  workflowId: string,
  executionId: string,
  need: Need,
): Promise<StoredPause[]> {
  const found = (await store.listRunPauses(executionId)).filter((pause) => pause.workflowId === workflowId)
  assertMay(caller, found[0]?.workspaceId, need, 'paused run')
  return found
}

/** Resumes a run at one of its pauses. The body has the answer in `input`. */
export async function resumeRun(services: Services, caller: Caller, request: Request, path: ResumePath) {
  const { store, settings, pauses } = services
  const { answers } = services.runs.pauses
  const { workflowId, executionId, contextId } = path
  const found = await pausesOf(services, caller, workflowId, executionId, 'execute')
  const wanted = wantedOf(found, contextId)
  const asked = await answers.find(wanted.contextId)
  const by = (await store.findUser(caller.userId))?.email.toLowerCase() ?? null
  if (asked?.pause.kind === 'approval') {
    assertMayAnswer({ role: roleOf(caller, asked.pause.workspaceId), email: by ?? '' }, asked.content)
    const call = { request, fields: asked.content.fields, within: 'input', visitor: undefined }
    const outcome = await receiveFormBody(services.runs.pauses, call, ({ values: { approved, ...values }, upload }) =>
      giveAnswer(services.runs.pauses, asked, { approved, values, upload, by }),
    )
    if (outcome !== 'resumed') {
      return {
        status: 'started',
        executionId,
        message: 'The answer counts. The run waits for other people.',
      } as const
    }
  } else {
    const body = await readJsonBody(request, settings.body)
    const data = isObject(body) ? (body['input'] ?? {}) : body
    if (!isObject(data)) throw new AppError('INVALID_INPUT', 'The body and its member "input" must be objects.')
    if (!asked) await pauses.resume(wanted.contextId)
    else await answers.answer(asked, { approved: true, fields: {}, by, call: { data, headers: {}, query: {} } })
  }
  return { status: 'started', executionId, message: 'The run continues.' } as const
}

/** The pause that the caller names, or else the only open one. */
function wantedOf(found: readonly StoredPause[], contextId: string | undefined): StoredPause {
  const open = found.filter(({ state }) => state === 'open')
  const only = open.length === 1 ? open[0] : undefined
  const wanted = contextId === undefined ? only : found.find((pause) => pause.contextId === contextId)
  if (wanted) return wanted
  const message =
    contextId === undefined ? `The run has ${open.length} open pauses: name one of them.` : 'The run has no such pause.'
  throw new AppError('NOT_FOUND', message)
}
