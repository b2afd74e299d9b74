import { isObject } from '../../../domain/run/input.ts'
import { RpcError, rpcCodes } from './json-rpc.ts'

type Prompt = { name: string; description: string; argument: { name: string; description: string }; text: string }

/** In a text, `…` is the place of the argument. */
const prompts: readonly Prompt[] = [
  {
    name: 'build',
    description: 'Builds, tests and deploys a workflow.',
    argument: { name: 'task', description: 'The task of the workflow, in your own words.' },
    text:
      'Build a workflow for this task: …\n\nChoose block types with list_blocks, and read describe_block for each one ' +
      'before you use it. For other services, look at list_connectors and list_credentials. Create the workflow, and ' +
      'add blocks with edit_workflow in small steps until the findings have no errors. Run the draft with typical and ' +
      'unusual input, and read the output of each block. Make a test of each good run with create_test. Ask me before ' +
      'you deploy it.',
  },
  {
    name: 'debug',
    description: 'Finds out why a run failed, and proposes a correction.',
    argument: { name: 'executionId', description: 'The ID of the run.' },
    text:
      'Find out why the run … failed. Read it with get_run, and its workflow with get_workflow. Name the block, the ' +
      'cause and the value that led to it. Propose the smallest list of edits that corrects it. When I agree, apply ' +
      'it with edit_workflow and test it with run_draft. Do not deploy it before I say so.',
  },
]

export function listPrompts(): object {
  return {
    prompts: prompts.map(({ name, description, argument }) => {
      return { name, description, arguments: [{ ...argument, required: true }] }
    }),
  }
}

export function getPrompt({ name, arguments: given }: Record<string, unknown>): object {
  const prompt = prompts.find((each) => each.name === name)
  if (!prompt) throw new RpcError(rpcCodes.invalidParams, 'There is no such prompt. prompts/list lists the prompts.')
  const value = isObject(given) ? given[prompt.argument.name] : undefined
  if (typeof value !== 'string' || value === '' || value.length > argumentCharsMax) {
    const message = `"${prompt.argument.name}" must be a text of 1 to ${argumentCharsMax} characters.`
    throw new RpcError(rpcCodes.invalidParams, message)
  }
  const text = prompt.text.replace('…', () => value)
  return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}

const argumentCharsMax = 10_000
