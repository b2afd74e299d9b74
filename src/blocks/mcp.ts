import { type Static, Type as t } from '@sinclair/typebox'
import { McpError } from '../domain/mcp-server.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock } from '../engine/block.ts'
import { contentOf, filesIn, textOf } from './mcp/result.ts'

const Parameters = t.Object({
  server: t.String({
    minLength: 1,
    title: 'Server',
    description: 'The address of an MCP server, such as https://mcp.example.com/mcp.',
  }),
  credential: t.Optional(
    t.String({ title: 'Credential', description: 'The name of a credential of the workspace for this server.' }),
  ),
  tool: t.String({ minLength: 1, title: 'Tool', description: 'The name of one of its tools.' }),
  arguments: t.Optional(
    t.Record(t.String(), t.Unknown(), { title: 'Arguments', description: 'The arguments of the tool.' }),
  ),
  timeoutMs: t.Integer({
    default: 60_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Time limit for the result, in milliseconds.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/**
 * Calls a tool of an MCP server. A call may have effects, so it is repeated only if the server refused it because it no
 * longer knows the session.
 */
export const mcp = defineBlock({
  type: 'mcp',
  label: 'MCP tool',
  description: 'Calls a tool of an MCP server, and reads its result.',
  kind: 'step',
  parameters: Parameters,
  outputs: ['content', 'structured', 'isError', 'error'],
  mayFail: true,
  restore: ({ content }, { files }) => {
    for (const file of filesIn(content)) files.restore(file)
  },
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const { server, credential = '', tool, timeoutMs } = params
  try {
    const call = { tool, arguments: params.arguments ?? {}, timeoutMs }
    const result = await context.mcp(server, credential).call(call)
    const content = await contentOf(result, context)
    const { structured, isError } = result
    const outputs = { content, structured, isError }
    if (!isError) return { outputs: { ...outputs, error: null } }
    const error = { code: 'TOOL_ERROR', message: `The tool "${tool}" failed: ${shortened(textOf(content))}` }
    return { outputs: { ...outputs, error }, error }
  } catch (thrown) {
    if (!(thrown instanceof McpError || thrown instanceof BlockError)) throw thrown
    const error = { code: thrown.code, message: thrown.message }
    return { outputs: { content: null, structured: null, isError: null, error }, error }
  }
}

function shortened(text: string): string {
  if (text === '') return 'it gave no reason.'
  return text.length > errorCharsMax ? `${text.slice(0, errorCharsMax)}…` : text
}

/** Characters of a tool's own error that a message quotes. */
const errorCharsMax = 500
