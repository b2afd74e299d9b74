import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Static } from '@sinclair/typebox'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import type { DeploymentList, DeployResponse, StatusResponse } from '../../http/responses/workflow-schemas.ts'
import { type Argument, type Call, type Command, type CommandGroup, UsageError } from '../command.ts'
import { checkWorkflowFiles, findingText } from '../support/check.ts'
import { type Client, pathOf } from '../support/client.ts'
import { entryPointLines } from '../support/entry-points.ts'
import { readPins } from '../support/pins.ts'
import { printList } from '../support/print-list.ts'
import { documentOf, type ListedWorkflow, push as pushAll } from '../support/push.ts'
import {
  clientOf,
  findWorkflow,
  listWorkflows,
  service,
  workflowArgument,
  workspaceFlag,
  workspaceOf,
} from '../support/service.ts'
import { readTests } from '../support/tests/workflow-tests.ts'
import { readWorkflowFiles, testFileOf } from '../support/workflow-files.ts'
import { importCommand } from './workflow-import.ts'

const push: Command = {
  summary: 'creates or updates workflows from files: all of them or none',
  details: [
    'A document replaces the workflow with its ID, else the one with its name. Otherwise it becomes a new workflow.',
    'The tests in NAME.test.json beside NAME.json replace those of the workflow.',
    'All documents are checked before anything changes. If the service refuses one, the others are restored.',
  ].join('\n'),
  arguments: [{ name: 'FILE|FOLDER', description: 'workflow documents, or folders of .json files', many: true }],
  flags: { deploy: { description: 'deploy them too' }, ...workspaceFlag },
  settings: service,
  json: true,
  examples: ['workflows push hello.json --deploy', 'workflows push workflows/ --deploy --workspace ID --json'],
  async run(call) {
    const { terminal, switches } = call
    const deploy = switches.has('deploy')
    const documents = checkWorkflowFiles(readWorkflowFiles(call.arguments), { deploy, config: call.config })
    const client = clientOf(call)
    const workspaceId = await workspaceOf(client, call.flags['workspace'])
    const pushed = await pushAll({ client, workspaceId, documents, deploy })
    for (const [index, { findings }] of pushed.entries()) {
      for (const finding of findings) terminal.say(`${documents[index]!.path}: ${findingText(finding)}`)
    }
    if (call.json) terminal.print(JSON.stringify(pushed.map(({ id, name, version }) => ({ id, name, version }))))
    else {
      for (const { id, name, action, version, wasActive, entryPoints = [] } of pushed) {
        const deployed = wasActive ? `version ${version} is already up to date` : `deployed as version ${version}`
        terminal.print(`${id}  ${name}  ${action}${version === undefined ? '' : `, ${deployed}`}`)
        for (const line of entryPoints) terminal.say(line)
      }
    }
    return 0
  },
}

const list: Command = {
  summary: 'prints the workflows of a workspace',
  flags: workspaceFlag,
  settings: service,
  json: true,
  examples: ['workflows list', 'workflows list --json'],
  async run(call) {
    const client = clientOf(call)
    const rows = await listWorkflows(client, await workspaceOf(client, call.flags['workspace']))
    const none = 'There are no workflows yet. Push one: millrace workflows push FILE'
    printList(call, rows, { line: (row) => [row.id, rowText(row)], none })
    return 0
  },
}

function rowText({ name, isDeployed, version }: ListedWorkflow): string {
  return isDeployed ? `${name}  (version ${version})` : `${name}  (not deployed)`
}

const exportCommand: Command = {
  summary: 'prints the document of one workflow, or writes all documents to a folder',
  details: 'In a folder, NAME.test.json beside NAME.json has the tests of the workflow.',
  arguments: [{ ...workflowArgument, optional: true }],
  flags: {
    out: { value: 'DIR', description: 'write all workflows of the workspace to this folder' },
    pins: { description: 'add the pinned outputs, as the member mocks' },
    ...workspaceFlag,
  },
  settings: service,
  json: true,
  examples: ['workflows export hello --pins > hello.json', 'workflows export --out workflows/'],
  async run(call) {
    const client = clientOf(call)
    const [wanted] = call.arguments
    const out = call.flags['out']
    const read = async (id: string) => {
      const document = documentOf(await client.get(pathOf`/api/workflows/${id}`))
      const mocks = call.switches.has('pins') ? await readPins(client, id) : []
      return mocks.length > 0 ? { ...document, mocks } : document
    }
    if (wanted !== undefined) {
      const { id } = await findWorkflow(client, wanted, call.flags['workspace'])
      const document = await read(id)
      call.terminal.print(JSON.stringify(document, null, 2))
      return 0
    }
    if (out === undefined) throw new UsageError('Name a workflow to print, or a folder for all workflows: --out DIR.')
    const rows = await listWorkflows(client, await workspaceOf(client, call.flags['workspace']))
    const documents = await Promise.all(
      rows.map(async ({ id }) => ({ document: await read(id), tests: await readTests(client, id) })),
    )
    const files = writeDocuments(out, documents)
    if (call.json) call.terminal.print(JSON.stringify(files))
    else call.terminal.say(`${files.length} written to ${out}.`)
    return 0
  },
}

type Exported = { document: Record<string, unknown>; tests: readonly WorkflowTest[] }

/** Writes one file per workflow, named after it, and one with its tests beside it, if it has any. */
function writeDocuments(folder: string, documents: readonly Exported[]): string[] {
  mkdirSync(folder, { recursive: true })
  const taken = new Set<string>()
  return documents.flatMap(({ document, tests }) => {
    const slug = String(document['name'])
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
    const name = slug !== '' && !taken.has(slug) ? slug : [slug, document['id']].filter(Boolean).join('-')
    taken.add(name)
    const path = join(folder, `${name}.json`)
    writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`)
    const testPath = testFileOf(path)
    // An old file would bring the tests back with the next push.
    if (tests.length === 0 && !existsSync(testPath)) return [path]
    writeFileSync(testPath, `${JSON.stringify({ workflow: `${name}.json`, tests }, null, 2)}\n`)
    return [path, testPath]
  })
}

type OnWorkflow = Pick<Command, 'summary' | 'json' | 'examples'> & {
  /** Arguments after the workflow. */
  further?: readonly Argument[]
  act(call: Call, client: Client, id: string): Promise<void>
}

/** A command on one workflow, which the first argument names. */
function onWorkflow({ further = [], act, ...texts }: OnWorkflow): Command {
  return {
    ...texts,
    arguments: [workflowArgument, ...further],
    flags: workspaceFlag,
    settings: service,
    async run(call) {
      const client = clientOf(call)
      const { id } = await findWorkflow(client, call.arguments[0]!, call.flags['workspace'])
      await act(call, client, id)
      return 0
    },
  }
}

const deploy = onWorkflow({
  summary: 'deploys the saved document as a new version',
  json: true,
  examples: ['workflows deploy hello'],
  async act(call, client, id) {
    const response = await client.post<Static<typeof DeployResponse>>(pathOf`/api/workflows/${id}/deploy`)
    for (const warning of response.warnings) call.terminal.say(findingText(warning))
    const text = [`Version ${response.version} runs now.`, ...entryPointLines(response)].join('\n')
    call.terminal.print(call.json ? JSON.stringify(response) : text)
  },
})

const undeploy = onWorkflow({
  summary: 'undeploys a workflow; its versions stay',
  examples: ['workflows undeploy hello'],
  async act(call, client, id) {
    await client.delete(pathOf`/api/workflows/${id}/deploy`)
    call.terminal.say('The workflow is undeployed. To activate a version again: millrace workflows activate')
  },
})

const versions = onWorkflow({
  summary: 'prints the versions of a workflow',
  json: true,
  examples: ['workflows versions hello'],
  async act(call, client, id) {
    const { data } = await client.get<Static<typeof DeploymentList>>(pathOf`/api/workflows/${id}/deployments`)
    printList(call, data, {
      line: ({ version, isActive, createdAt, name }) => {
        return [String(version), [createdAt, isActive ? 'active' : '      ', name ?? ''].join('  ')]
      },
      none: `The workflow was never deployed: millrace workflows deploy ${id}`,
    })
  },
})

const activate = onWorkflow({
  summary: 'activates an older version',
  further: [{ name: 'VERSION', description: 'its number' }],
  json: true,
  examples: ['workflows activate hello 3'],
  async act(call, client, id) {
    const [, version] = call.arguments
    const response = await client.post<unknown>(pathOf`/api/workflows/${id}/deployments/${version!}/activate`)
    call.terminal.print(call.json ? JSON.stringify(response) : `Version ${version} runs now.`)
  },
})

const status = onWorkflow({
  summary: 'prints whether a workflow is deployed, and whether its document has changed since',
  json: true,
  examples: ['workflows status hello', 'workflows status hello --json'],
  async act(call, client, id) {
    const response = await client.get<Static<typeof StatusResponse>>(pathOf`/api/workflows/${id}/status`)
    if (call.json) call.terminal.print(JSON.stringify(response))
    else if (!response.isDeployed) call.terminal.print('Not deployed.')
    else {
      const changed = response.needsRedeployment ? ' The document has changed since. Deploy it again.' : ''
      const text = `Version ${response.version} has been active since ${response.deployedAt}.${changed}`
      call.terminal.print([text, ...entryPointLines(response)].join('\n'))
    }
  },
})

export const workflows: CommandGroup = {
  summary: 'workflows of a service',
  commands: { push, import: importCommand, list, export: exportCommand, deploy, undeploy, versions, activate, status },
}
