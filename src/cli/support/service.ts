import type { Static } from '@sinclair/typebox'
import type { WorkspaceList } from '../../http/responses/account-schemas.ts'
import type { WorkflowList } from '../../http/responses/workflow-schemas.ts'
import { type Call, CommandError } from '../command.ts'
import { Client, pathOf, ServiceError } from './client.ts'
import type { ListedWorkflow } from './push.ts'

// Code shared by the commands that talk to a service.

/** A client for the service that the settings name. */
export function clientOf({ config }: Pick<Call, 'config'>): Client {
  return new Client({ url: config.url, apiKey: config.apiKey, timeoutMs: 60_000 })
}

/** Every workflow of a workspace. */
export async function listWorkflows(client: Client, workspaceId: string): Promise<ListedWorkflow[]> {
  return (await client.get<Static<typeof WorkflowList>>(pathOf`/api/workflows?workspaceId=${workspaceId}`)).data
}

/** The named workspace, else the only one that the key can use, else the only one that its account owns. */
export async function workspaceOf(client: Client, named: string | undefined): Promise<string> {
  if (named !== undefined) return named
  const { data } = await client.get<Static<typeof WorkspaceList>>('/api/workspaces')
  const [only, ...others] = data.length > 1 ? data.filter(({ role }) => role === 'owner') : data
  if (only && others.length === 0) return only.id
  throw new CommandError(
    data.length === 0
      ? 'The key cannot use any workspace.'
      : 'The key can use several workspaces. Name one with --workspace.',
    data.map(({ id, name }) => `${id}  ${name}`).join('\n'),
  )
}

/** The workflow with that ID, else the one with that name. */
export async function findWorkflow(
  client: Client,
  wanted: string,
  workspace: string | undefined,
): Promise<ListedWorkflow> {
  try {
    return await client.get<ListedWorkflow>(pathOf`/api/workflows/${wanted}`)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error
    const rows = await listWorkflows(client, await workspaceOf(client, workspace))
    const named = rows.find((row) => row.name === wanted)
    if (named) return named
    throw new CommandError(
      `There is no workflow with the id or name "${wanted}".`,
      'List all workflows: millrace workflows list',
    )
  }
}

/** The settings that identify the service. */
export const service = ['url', 'apiKey'] as const
export const workspaceFlag = {
  workspace: { value: 'ID', description: 'the workspace; by default the only one that you own' },
} as const
export const workflowArgument = { name: 'WORKFLOW', description: 'the id or the name of a workflow' } as const
