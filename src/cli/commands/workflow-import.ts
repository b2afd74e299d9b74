import { basename } from 'node:path'
import type { Static } from '@sinclair/typebox'
import { isObject } from '../../domain/run/input.ts'
import type { ImportedWorkflow } from '../../http/responses/workflow-schemas.ts'
import { readSimDocument } from '../../sim/sim-document.ts'
import { type Command, CommandError } from '../command.ts'
import { ServiceError } from '../support/client.ts'
import { clientOf, service, workspaceFlag, workspaceOf } from '../support/service.ts'
import type { Terminal } from '../support/terminal.ts'
import { readWorkflowFiles, type WorkflowFile } from '../support/workflow-files.ts'

type Report = Static<typeof ImportedWorkflow>

export const importCommand: Command = {
  summary: 'imports workflow files that Sim exported',
  details: [
    'Each file becomes a workflow. A block without a counterpart becomes a placeholder, which prevents deployment.',
    'A workflow without a name gets the name of its file. If a file cannot be imported, the others still are.',
    'If a file is not JSON, nothing is imported.',
  ].join('\n'),
  arguments: [{ name: 'FILE|FOLDER', description: 'workflow files, or folders of .json files', many: true }],
  flags: {
    update: { description: 'replace workflows that have the same names, if an import created them' },
    ...workspaceFlag,
  },
  settings: service,
  json: true,
  examples: ['workflows import support-agent.json', 'workflows import export/ --update --json'],
  async run(call) {
    const { terminal, switches, arguments: paths } = call
    const files = readWorkflowFiles(paths).filter(({ path }) => basename(path) !== '_workspace.json')
    const client = clientOf(call)
    const workspaceId = await workspaceOf(client, call.flags['workspace'])
    const reports: (Report & { file: string })[] = []
    const problems: string[] = []
    /** The files of the imported workflows by their names: a file must not replace the workflow of another one. */
    const imported = new Map<string, string>()
    for (const file of files) {
      try {
        const { name, document } = named(file)
        const other = imported.get(name)
        if (other !== undefined) {
          problems.push(`${file.path}: The workflow in ${other} has the same name, "${name}". Rename one of them.`)
          continue
        }
        const body = { workspaceId, format: 'sim', document, update: switches.has('update') }
        const report = await client.post<Report>('/api/workflows/import', body)
        imported.set(name, file.path)
        reports.push({ file: file.path, ...report })
        if (!call.json) printReport(file.path, report, terminal)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        problems.push(`${file.path}: ${error.message}`)
      }
    }
    if (call.json) terminal.print(JSON.stringify(reports))
    if (problems.length > 0) throw new CommandError(problems.join('\n'))
    return 0
  },
}

/** As in Sim, a workflow without a name in its file gets the name of the file. */
function named({ path, value }: WorkflowFile): { name: string; document: unknown } {
  const reading = readSimDocument(value)
  if ('details' in reading || !isObject(value)) return { name: path, document: value }
  if (reading.document.name !== undefined) return { name: reading.document.name, document: value }
  const plain = basename(path)
    .replace(/\.json$/i, '')
    .replace(uuidAtEnd, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim()
  const name = plain || basename(path)
  return { name, document: { ...value, name } }
}

const uuidAtEnd = /-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function printReport(path: string, { id, name, mapped, placeholders, credentials, notes }: Report, terminal: Terminal) {
  const rest = placeholders.length === 0 ? '' : `, ${count(placeholders.length, 'placeholder')}`
  terminal.print(`${id}  ${name}  ${count(mapped.length, 'block')} converted${rest}`)
  for (const { name: block, needs } of placeholders)
    terminal.say(`${path}: "${block}" is a placeholder. It needs ${needs}.`)
  for (const { name: credential, kind } of credentials) {
    terminal.say(`${path}: The workflow needs the credential "${credential}"${kind === undefined ? '' : ` (${kind})`}.`)
  }
  for (const note of notes) terminal.say(`${path}: ${note}`)
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
