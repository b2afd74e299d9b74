import { AppError, problemsError, StartSkipped } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import { findValidationErrors } from '../../../domain/workflow/shape.ts'
import { toolNameCharsMax } from '../../../domain/workflow/tool-name.ts'
import { type Caller, type Need, roleOf } from '../../access/auth.ts'
import { toAppError } from '../../errors.ts'
import { plainSchema } from '../../openapi/plain-schema.ts'
import type { Services } from '../../services.ts'
import type { StartManualRun } from '../editor/manual-start.ts'
import type { ApiCall } from './api-call.ts'
import type { ExposedWorkflows } from './exposed-workflows.ts'
import { RpcError, type RpcMessage, rpcCodes } from './json-rpc.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listTemplates, readResource } from './resources.ts'
import { skippedText } from './run-results.ts'
import { refusalResult, valueResult } from './tool-result.ts'
import { buildingTools } from './tools/building-tools.ts'
import type { BuildingTool, ToolContext } from './tools/tool.ts'

/** A request of a client whose key may use the workspace. */
export type Session = {
  services: Services
  caller: Caller
  workspaceId: string
  exposed: ExposedWorkflows
  api: ApiCall
  startRun: StartManualRun
  inTurn: ToolContext['inTurn']
  signal: AbortSignal
  /** The length of the message. */
  chars: number
  /** Runs a workflow that is a tool. Resolves with the result as JSON text. */
  callWorkflow(workflowId: string, given: Record<string, unknown>, observer?: RunObserver): Promise<string>
}

/** Newest first. 2025-03-26 is missing, because only that version requires servers to accept batches. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2024-11-05'] as const

/** The newest version that is not newer than the client's. Versions are dates, so texts sort by age. */
function versionFor(asked: unknown): string {
  return protocolVersions.find((each) => typeof asked === 'string' && each <= asked) ?? protocolVersions[0]
}

const reserved = buildingTools.map(({ name }) => name)
const building = new Map(buildingTools.map((tool) => [tool.name, tool]))
const toolsPerPage = 1_000

/** Responds to a request. Resolves with the result as JSON text. Rejects with RpcError for what does not exist. */
export async function respondTo(
  session: Session,
  { method, params }: RpcMessage,
  observer: RunObserver | undefined,
): Promise<string> {
  switch (method) {
    case 'initialize':
      return JSON.stringify(initialized(session, params))
    case 'ping':
      return '{}'
    case 'tools/list':
      return JSON.stringify(await toolsOf(session, params))
    case 'tools/call':
      return await callTool(session, params, observer)
    case 'resources/list':
      return JSON.stringify(await listResources(session))
    case 'resources/templates/list':
      return JSON.stringify(listTemplates())
    case 'resources/read':
      return JSON.stringify(await readResource(session, params['uri']))
    case 'prompts/list':
      return JSON.stringify(listPrompts())
    case 'prompts/get':
      return JSON.stringify(getPrompt(params))
    default:
      throw new RpcError(rpcCodes.methodNotFound, `This server has no method "${method.slice(0, 100)}".`)
  }
}

function initialized({ services }: Session, { protocolVersion }: Record<string, unknown>): object {
  return {
    protocolVersion: versionFor(protocolVersion),
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'millrace', title: 'Millrace', version: services.settings.version },
    instructions,
  }
}

const instructions =
  'Millrace runs workflows of connected blocks. Deployed workflows that opt in are tools. To build a workflow: ' +
  'list_blocks and describe_block, create_workflow, edit_workflow in small steps until "findings" has no errors, ' +
  'run_draft, get_run when something failed, create_test from a good run and run_tests after each change, and ' +
  'deploy_workflow when it works.'

/** The building tools that the caller may use, then the workflows. */
async function toolsOf(session: Session, { cursor }: Record<string, unknown>): Promise<object> {
  const start = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isInteger(start) || start < 0) throw new RpcError(rpcCodes.invalidParams, 'The cursor is not valid.')
  const { caller, workspaceId, exposed } = session
  const own = buildingTools.filter(({ needs }) => may(caller, workspaceId, needs)).map(shownTool)
  const workflows = may(caller, workspaceId, 'execute') ? await exposed.list(workspaceId, reserved) : []
  const all = [...own, ...workflows.map(({ workflowId: _, ...tool }) => tool)]
  const next = start + toolsPerPage
  return { tools: all.slice(start, next), ...(next < all.length && { nextCursor: String(next) }) }
}

function shownTool({ name, title, description, input, needs }: BuildingTool): object {
  const annotations = { title, readOnlyHint: isReadOnly.has(name), openWorldHint: needs === 'execute' }
  return { name, title, description, inputSchema: portable(plainSchema(input, {})), annotations }
}

/** Some clients refuse schemas without any keyword, so members with any value get the usual form. */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable)
  if (!isObject(schema)) return schema
  const members = Object.entries(schema).map(([name, value]) => {
    const isOpen = name === 'additionalProperties' && isObject(value) && Object.keys(value).length === 0
    return [name, isOpen ? true : portable(value)]
  })
  return Object.fromEntries(members)
}

const isReadOnly: ReadonlySet<string> = new Set(reserved.filter((name) => /^(list|get|check|describe)_/.test(name)))

function may(caller: Caller, workspaceId: string, need: Need): boolean {
  const role = roleOf(caller, workspaceId)
  return role !== undefined && (need === 'read' || role !== 'viewer')
}

async function callTool(
  session: Session,
  params: Record<string, unknown>,
  observer: RunObserver | undefined,
): Promise<string> {
  const { name, arguments: given = {} } = params
  if (typeof name !== 'string') throw new RpcError(rpcCodes.invalidParams, '"name" must be the name of a tool.')
  if (!isObject(given)) throw new RpcError(rpcCodes.invalidParams, '"arguments" must be an object.')
  const tool = building.get(name)
  try {
    if (tool) return valueResult(await runTool(session, tool, given))
    const { exposed, caller, workspaceId, callWorkflow } = session
    // Names of tools are short, and viewers may not run any, so such calls read nothing.
    if (!may(caller, workspaceId, 'execute')) throw forbidden(`The tool "${name.slice(0, toolNameCharsMax)}"`)
    const workflows = name.length > toolNameCharsMax ? [] : await exposed.list(workspaceId, reserved)
    const workflow = workflows.find((each) => each.name === name)
    if (workflow) return await callWorkflow(workflow.workflowId, given, observer)
  } catch (thrown) {
    if (thrown instanceof StartSkipped) return skippedText(thrown)
    const error = toAppError(thrown)
    // A bug: it is logged, and the client learns only that it happened.
    if (error.code === 'INTERNAL') throw thrown
    return refusalResult(error)
  }
  throw new RpcError(rpcCodes.invalidParams, `There is no tool "${name.slice(0, 100)}". tools/list lists the tools.`)
}

async function runTool(session: Session, tool: BuildingTool, given: Record<string, unknown>): Promise<unknown> {
  const { services, caller, workspaceId, api, startRun, signal } = session
  if (!may(caller, workspaceId, tool.needs)) throw forbidden(`The tool ${tool.name}`)
  const { max, setting } = services.settings.documentBody.bytes
  if (session.chars > max) {
    const message = `The call is larger than ${max} bytes, the most that ${setting} allows a document. Send smaller edits.`
    throw new AppError('PAYLOAD_TOO_LARGE', message)
  }
  const problems = findValidationErrors(tool.input, given)
  if (problems.length > 0) throw problemsError('INVALID_INPUT', tool.explain?.(given, problems) ?? problems)
  // A call may have waited long for its turn.
  const inTurn: Session['inTurn'] = (work) =>
    session.inTurn(async () => {
      if (signal.aborted) throw new AppError('CANCELLED', 'The client cancelled the call before its turn.')
      return await work()
    })
  const context = { services, caller, workspaceId, api, startRun, inTurn, signal }
  const run = () => tool.run(context, given)
  return tool.hasDocument ? await inTurn(run) : await run()
}

function forbidden(tool: string): AppError {
  return new AppError('FORBIDDEN', `${tool} needs the role of an editor in this workspace. You are a viewer.`)
}
