import { blockTypes } from '../../../src/sim/block-types.ts'
import { services, servicesByType } from '../../../src/sim/services/services.ts'
import { type SimFile, simBlock, simFile } from './files.ts'
import { inputsOf } from './rule-inputs.ts'

/** Chooses numbers below a limit. The same seed makes the same choices. */
export class Choices {
  #state: number

  constructor(seed: number) {
    this.#state = seed * 2_654_435_761 + 1
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0
    return ((this.#state ^ (this.#state >>> 13)) >>> 0) % limit
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

const types = [...blockTypes.keys(), 'a_type_of_tomorrow', '']

/**
 * A workflow file with blocks of any types and sub-blocks, a random graph, and containers in containers. `index`: of
 * the file. The types take turns, so that several hundred blocks have them all.
 */
export function generatedFile(index: number): SimFile {
  const choices = new Choices(index)
  let words = 0
  const word = () => {
    words += 1
    return `text${index}x${words}`
  }
  const count = 8 + choices.below(12)
  const ids = Array.from({ length: count }, (_, at) => `b${at}`)
  const blocks = ids.map((id, at) => {
    const type = choices.chance(20)
      ? choices.of(['loop', 'parallel', 'agent', 'condition'])
      : types[(index * 11 + at) % types.length]!
    return { id, type }
  })
  const containers = blocks.filter(({ type }) => type === 'loop' || type === 'parallel').map(({ id }) => id)
  const built = blocks.map(({ id, type }) => {
    // Only earlier containers, so that none is inside itself.
    const outer = containers.filter((container) => Number(container.slice(1)) < Number(id.slice(1)))
    const parentId = outer.length > 0 && choices.chance(40) ? choices.of(outer) : undefined
    return simBlock(id, type, valuesFor(type, choices, word), {
      name: choices.chance(90) ? `${type} ${word()}` : 'Same name',
      ...(choices.chance(10) ? { enabled: false } : {}),
      ...(choices.chance(15) ? { triggerMode: true } : {}),
      data: parentId === undefined ? {} : { parentId, extent: 'parent' },
    })
  })
  const edges = Array.from({ length: count + choices.below(count) }, () => {
    const handle = choices.of(['', '', '', ':error', ':condition-x', ':loop-start-source', ':parallel-end-source'])
    return `${choices.of(ids)}${handle} > ${choices.of(ids)}`
  })
  const inside = (id: string) =>
    built.filter((block) => (block['data'] as { parentId?: string }).parentId === id).map((block) => block['id'])
  const ofType = (type: string) => blocks.filter((block) => block.type === type).map(({ id }) => id)
  return simFile(built, edges, {
    loops: Object.fromEntries(
      ofType('loop').map((id) => [
        id,
        { id, nodes: inside(id), iterations: 3, loopType: choices.of(['for', 'forEach']) },
      ]),
    ),
    parallels: Object.fromEntries(ofType('parallel').map((id) => [id, { id, nodes: inside(id), count: 2 }])),
    variables: { v1: { id: 'v1', name: word(), type: 'string', value: word() } },
    metadata: { name: word(), description: word() },
  })
}

/** Every kind of value that a sub-block of Sim can have. */
function anyValue(choices: Choices, word: () => string): unknown {
  const kinds: (() => unknown)[] = [
    () => word(),
    () => `${word()} <start.input> {{KEY}} ${word()}`,
    () => `<${word()}.content>`,
    () => choices.below(1_000),
    () => choices.chance(50),
    () => null,
    () => '',
    () => [word(), word()],
    () => ({ [word()]: word() }),
    () => JSON.stringify({ a: word(), b: [word(), 1, null] }),
    () => JSON.stringify([{ id: word(), value: word() }]),
    // A table.
    () => [{ id: word(), cells: { Key: word(), Value: word() } }],
    // Files.
    () => [{ name: word(), path: word(), size: 3, type: 'text/plain', key: word() }],
    () => `{"broken": ${word()}`,
  ]
  return choices.of(kinds)()
}

/** Sub-blocks with values that a deployment accepts, for blocks with a form of their own. */
function valuesFor(type: string, choices: Choices, word: () => string): Record<string, unknown> {
  const rules = servicesByType.get(type)
  const values: Record<string, unknown> = { [`extra${word()}`]: anyValue(choices, word) }
  if (rules) {
    const [operation, rule] = choices.of(Object.entries(rules.operations))
    for (const { id } of inputsOf(rule)) if (choices.chance(70)) values[id] = anyValue(choices, word)
    if (choices.chance(90)) values['operation'] = operation
    for (const secret of rules.credential?.secrets ?? []) values[secret] = '{{A_KEY}}'
    values['credential'] = word()
    return values
  }
  switch (type) {
    case 'agent':
      return {
        ...values,
        model: 'gpt-4o',
        systemPrompt: word(),
        userPrompt: `<start.input> ${word()}`,
        tools: toolsFor(choices, word),
      }
    case 'condition':
      return {
        ...values,
        conditions: JSON.stringify([
          { id: 'x', title: 'if', value: `<start.input> === '${word()}'` },
          { id: 'y', title: 'else', value: '' },
        ]),
      }
    case 'function':
      return { ...values, code: `return '${word()}'` }
    case 'api':
      return { ...values, url: `https://example.com/${word()}`, method: 'POST', body: JSON.stringify({ a: word() }) }
    case 'note':
      return { ...values, content: `# ${word()}` }
    default:
      for (let more = choices.below(4); more > 0; more -= 1) values[word()] = anyValue(choices, word)
      return values
  }
}

function toolsFor(choices: Choices, word: () => string): unknown {
  const tools = Array.from({ length: choices.below(4) }, () => {
    const rules = choices.of(services)
    const [operation, rule] = choices.of(Object.entries(rules.operations))
    const given = inputsOf(rule).filter(() => choices.chance(40))
    return choices.of<() => Record<string, unknown>>([
      () => ({
        type: choices.of(rules.types),
        title: word(),
        operation,
        params: Object.fromEntries(given.map(({ id }) => [id, word()])),
        usageControl: choices.of(['auto', 'force', 'none']),
      }),
      () => ({
        type: 'custom-tool',
        title: word(),
        schema: { function: { name: word() } },
        code: `return '${word()}'`,
      }),
      () => ({ type: 'mcp', title: word(), params: { serverId: word(), toolName: word() } }),
      () => ({ type: 'workflow_input', title: word(), params: { workflowId: word() } }),
      () => ({ type: choices.of(types), title: word(), params: { [word()]: word() } }),
    ])()
  })
  return choices.chance(50) ? tools : JSON.stringify(tools)
}
