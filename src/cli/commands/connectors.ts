import { readFileSync } from 'node:fs'
import { type ImportFormat, importFormats } from '../../connectors/import/formats.ts'
import { importConnector, importLimits } from '../../connectors/import/import.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import { type Call, type Command, CommandError, type CommandGroup, UsageError } from '../command.ts'
import { pathOf } from '../support/client.ts'
import { printList } from '../support/print-list.ts'
import { clientOf, workspaceOf } from '../support/service.ts'

const workspace = { value: 'ID', description: 'the workspace; optional if there is only one' }
const id = { name: 'ID', description: 'the ID of a connector' }

type Summary = { id: string; name: string; builtIn: boolean; operations: { id: string; label: string }[] }

const list: Command = {
  summary: 'prints the connectors that workflows can use',
  flags: { workspace },
  settings: ['url', 'apiKey'],
  json: true,
  examples: ['connectors list', 'connectors list --json'],
  async run(call) {
    const { client, base } = await addressOf(call)
    const { data } = await client.get<{ data: Summary[] }>(base)
    printList(call, data, {
      line: ({ id: one, name, builtIn, operations }) => [
        one,
        `${name}  ${operations.length} operations  ${builtIn ? 'comes with the service' : 'of this workspace'}`,
      ],
      none: 'There is no connector.',
    })
    return 0
  },
}

const show: Command = {
  summary: 'prints the document of a connector as JSON',
  arguments: [id],
  flags: { workspace },
  settings: ['url', 'apiKey'],
  examples: ['connectors show slack', 'connectors show shop > shop.json'],
  async run(call) {
    const { client, base } = await addressOf(call)
    const { connector } = await client.get<{ connector: unknown }>(base + pathOf`/${call.arguments[0]!}`)
    call.terminal.print(JSON.stringify(connector, null, 2))
    return 0
  },
}

const push: Command = {
  summary: 'adds connectors from files to a workspace, or replaces them',
  arguments: [{ name: 'FILE', description: 'a connector as JSON', many: true }],
  flags: { workspace },
  settings: ['url', 'apiKey'],
  examples: ['connectors push shop.json', 'connectors push connectors/*.json'],
  async run(call) {
    const { client, base } = await addressOf(call)
    for (const path of call.arguments) {
      const document = connectorIn(path)
      await client.put(base + pathOf`/${document.id}`, document)
      call.terminal.say(`${document.id} is set.`)
    }
    return 0
  },
}

const importing: Command = {
  summary: 'makes a connector from an OpenAPI or Discovery document, a cURL command or a HAR file',
  details: [
    'The document may be a file, - for standard input, or a URL. The command prints every part of the document that a',
    'connector cannot have. With --print, it only prints the connector.',
    `Formats: ${importFormats.join(', ')}. By default, the document shows what it is.`,
  ].join('\n'),
  arguments: [{ name: 'FILE|URL', description: 'the document' }],
  flags: {
    id: { value: 'ID', description: 'the ID of the connector; by default from the title of the document' },
    format: { value: 'FORMAT', description: 'the format of the document' },
    operation: {
      value: 'ID',
      description: 'an operation to take; may be given repeatedly; all by default',
      many: true,
    },
    source: { value: 'URL', description: 'where the document comes from, for relative addresses in it' },
    print: { description: 'prints the connector instead of adding it' },
    workspace,
  },
  settings: ['url', 'apiKey'],
  json: true,
  examples: [
    'connectors import openapi.yaml --id shop',
    'connectors import https://shop.example.com/openapi.json --id shop --operation listOrders',
  ],
  async run(call) {
    const { connector, notTaken } = await imported(call)
    if (call.json && call.switches.has('print')) {
      call.terminal.print(JSON.stringify({ connector, notTaken }))
      return 0
    }
    for (const { path, reason } of notTaken)
      call.terminal.say(`not taken: ${path === '' ? reason : `${path}: ${reason}`}`)
    if (call.switches.has('print')) {
      call.terminal.print(JSON.stringify(connector, null, 2))
      return 0
    }
    const { client, base } = await addressOf(call)
    await client.put(base + pathOf`/${connector.id}`, connector)
    const { length } = Object.keys(connector.operations)
    call.terminal.say(`${connector.id} is set, with ${length} ${length === 1 ? 'operation' : 'operations'}.`)
    return 0
  },
}

const remove: Command = {
  summary: 'deletes a connector of a workspace; blocks that call it fail from then on',
  arguments: [id],
  flags: { workspace },
  settings: ['url', 'apiKey'],
  examples: ['connectors delete shop'],
  async run(call) {
    const { client, base } = await addressOf(call)
    const named = call.arguments[0]!
    await client.delete(base + pathOf`/${named}`)
    call.terminal.say(`${named} is gone.`)
    return 0
  },
}

export const connectors: CommandGroup = {
  summary: 'connectors of a workspace: services with operations',
  commands: { list, show, push, import: importing, delete: remove },
}

async function addressOf(call: Call) {
  const client = clientOf(call)
  const workspaceId = await workspaceOf(client, call.flags['workspace'])
  return { client, base: pathOf`/api/workspaces/${workspaceId}/connectors` }
}

/** The document is read in this process, so it may be larger than the service would accept. */
async function imported({ arguments: [from = ''], flags, lists }: Call) {
  const format = flags['format'] as ImportFormat | undefined
  if (format !== undefined && !importFormats.includes(format)) {
    throw new UsageError(`Unknown format ${format}. The formats are ${importFormats.join(', ')}.`)
  }
  const operations = lists['operation']
  const isUrl = /^https?:\/\//i.test(from)
  const text = isUrl ? await loaded(from) : readText(from)
  const how = { format, id: flags['id'], source: flags['source'] ?? (isUrl ? from : ''), limits: importLimits }
  try {
    return importConnector(text, { ...how, operations: operations?.length ? operations : undefined })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const rows = error.details?.map(({ path, message }) => `${path}: ${message}`)
    throw new CommandError(rows ? rows.join('\n') : error.message)
  }
}

async function loaded(url: string): Promise<string> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new CommandError(`${url} cannot be loaded: ${messageOf(error)}`)
  })
  if (!response.ok) throw new CommandError(`${url} cannot be loaded: its server responded with ${response.status}.`)
  return await response.text()
}

function connectorIn(path: string): { id: string } {
  let value: unknown
  try {
    value = JSON.parse(readText(path))
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${path} is not JSON: ${messageOf(error)}`)
  }
  if (isObject(value) && typeof value['id'] === 'string') return value as { id: string }
  throw new CommandError(`${path} is not a connector: it has no id.`)
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`)
  }
}
