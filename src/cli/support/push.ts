import type { Static } from '@sinclair/typebox'
import { messageOf } from '../../domain/errors.ts'
import type { Mock } from '../../domain/workflow/mocks.ts'
import { type Finding, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import type {
  DeployResponse,
  SavedWorkflow,
  StatusResponse,
  WorkflowList,
} from '../../http/responses/workflow-schemas.ts'
import { CommandError } from '../command.ts'
import { type Client, pathOf } from './client.ts'
import { entryPointLines } from './entry-points.ts'
import { writePins } from './pins.ts'
import { writeTests } from './tests/workflow-tests.ts'

export type PushRequest = {
  client: Client
  workspaceId: string
  documents: readonly PushDocument[]
  deploy: boolean
}
export type PushDocument = {
  path: string
  document: WorkflowDocument
  mocks: readonly Mock[]
  tests?: readonly WorkflowTest[]
}

export type Pushed = {
  id: string
  name: string
  action: 'created' | 'updated'
  version?: number
  /** Whether that version was already active, so that nothing changed. */
  wasActive?: boolean
  /** How it is started now other than by the API, as lines for people. */
  entryPoints?: readonly string[]
  /** The findings of the service's check. */
  findings: readonly Finding[]
}

/** A workflow as the service lists it. */
export type ListedWorkflow = Static<typeof WorkflowList>['data'][number]

/**
 * Saves all documents and then deploys all of them if asked: all or nothing. All are saved before the first is
 * deployed, so that workflows that call each other find each other. After a failure, earlier steps are undone: created
 * workflows are deleted, and changed ones get their document and their active version back (used version numbers stay
 * used).
 */
export async function push(request: PushRequest): Promise<Pushed[]> {
  const { client, documents, workspaceId, deploy } = request
  const existing = await client.get<Static<typeof WorkflowList>>(pathOf`/api/workflows?workspaceId=${workspaceId}`)
  const targetOf = targets(existing.data)
  const steps = documents.map((each) => ({ ...each, target: targetOf(each.document) }))
  checkTargets(steps)

  const undo: Undo[] = []
  const pushed: Pushed[] = []
  let at = ''
  try {
    for (const { path, document, mocks, tests, target } of steps) {
      at = path
      const saved = await save(client, workspaceId, document, target, undo)
      pushed.push(saved)
      await writePins(client, saved.id, mocks, undo)
      await writeTests(client, saved.id, tests, undo)
    }
    if (!deploy) return pushed
    for (const [index, one] of pushed.entries()) {
      at = steps[index]!.path
      Object.assign(one, await deployOne(client, one.id, undo))
    }
    return pushed
  } catch (error) {
    throw await undone(`${at}: ${messageOf(error)}`, undo, error)
  }
}

type Undo = { what: string; run(): Promise<unknown> }
type Step = PushDocument & { target: ListedWorkflow | undefined }

/** Finds the workflow that a document replaces: the one with the same ID, otherwise the one with the same name. */
function targets(existing: readonly ListedWorkflow[]): (document: WorkflowDocument) => ListedWorkflow | undefined {
  const byId = new Map(existing.map((workflow) => [workflow.id, workflow]))
  const byName = new Map(existing.map((workflow) => [workflow.name, workflow]))
  return ({ id, name }) => (id === undefined ? undefined : byId.get(id)) ?? byName.get(name)
}

/** Rejects two documents for the same workflow. */
function checkTargets(steps: readonly Step[]): void {
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const { path, document, target } of steps) {
    const keys = new Set([`the name "${document.name}"`, `the id ${target?.id ?? document.id ?? `of ${path}`}`])
    for (const key of keys) {
      const other = owners.get(key)
      if (other !== undefined) problems.push(`${path} and ${other} both have ${key}.`)
      owners.set(key, path)
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'), 'Nothing was changed.')
}

async function save(
  client: Client,
  workspaceId: string,
  document: WorkflowDocument,
  target: ListedWorkflow | undefined,
  undo: Undo[],
): Promise<Pushed> {
  if (!target) {
    const made = await client.post<SavedWorkflow>('/api/workflows', { ...document, workspaceId })
    undo.push({ what: `delete ${made.id}`, run: () => client.delete(pathOf`/api/workflows/${made.id}`) })
    return { id: made.id, name: document.name, action: 'created', findings: made.findings }
  }
  const { id } = target
  const before = await client.get<Record<string, unknown>>(pathOf`/api/workflows/${id}`)
  undo.push({
    what: `put back the document of ${id}`,
    // An explicit empty list, because an absent one keeps webhooks that were added since.
    run: () => client.put(pathOf`/api/workflows/${id}`, { webhooks: [], ...documentOf(before) }),
  })
  const saved = await client.put<SavedWorkflow>(pathOf`/api/workflows/${id}`, { ...document, id })
  return { id, name: document.name, action: 'updated', findings: saved.findings }
}

async function deployOne(
  client: Client,
  id: string,
  undo: Undo[],
): Promise<Pick<Pushed, 'version' | 'wasActive' | 'entryPoints'>> {
  const before = await client.get<Static<typeof StatusResponse>>(pathOf`/api/workflows/${id}/status`)
  // When a whole folder is pushed, unchanged workflows keep their version.
  if (before.version !== null && !before.needsRedeployment) {
    return { version: before.version, wasActive: true, entryPoints: entryPointLines(before) }
  }
  const deployed = await client.post<Static<typeof DeployResponse>>(pathOf`/api/workflows/${id}/deploy`)
  undo.push(
    before.isDeployed && before.version !== null
      ? {
          what: `make version ${before.version} of ${id} active again`,
          run: () => client.post(pathOf`/api/workflows/${id}/deployments/${before.version ?? 0}/activate`),
        }
      : { what: `undeploy ${id}`, run: () => client.delete(pathOf`/api/workflows/${id}/deploy`) },
  )
  return { version: deployed.version, entryPoints: entryPointLines(deployed) }
}

/** Undoes the steps, last first, and returns the error that reports the result. */
async function undone(problem: string, undo: readonly Undo[], cause: unknown): Promise<CommandError> {
  const left: string[] = []
  for (const step of undo.toReversed()) {
    try {
      await step.run()
    } catch (error) {
      left.push(`${step.what}: ${messageOf(error)}`)
    }
  }
  if (left.length === 0) return new CommandError(problem, 'Nothing was changed.', cause)
  return new CommandError(
    problem,
    `Some earlier steps could not be undone. Undo them yourself:\n${left.join('\n')}`,
    cause,
  )
}

/** All members of a document: pushing a file deletes the members that it lacks. */
const documentMembers = Object.keys(WorkflowDocument.properties)

/** The document in a response of the service: only its own members, in their usual order. */
export function documentOf(response: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const members = documentMembers.filter((name) => response[name] !== undefined && response[name] !== null)
  return Object.fromEntries(members.map((name) => [name, response[name]]))
}
