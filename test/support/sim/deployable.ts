import type { Connector } from '../../../src/domain/connector/connector.ts'
import { services } from '../../../src/sim/services/services.ts'
import { type SimFile, simBlock, simFile } from './files.ts'
import { Choices } from './generated.ts'
import { inputsOf, sampleFor } from './rule-inputs.ts'

type Built = { blocks: Record<string, unknown>[]; edges: string[] }

/**
 * A workflow file that is complete: a start, blocks of services and of Sim itself with all their settings, conditions
 * with branches, and loops and parallels inside one another.
 */
export function deployableFile(index: number, connectors: ReadonlyMap<string, Connector>): SimFile {
  const choices = new Choices(index + 1_000)
  const built: Built = { blocks: [], edges: [] }
  const containers: { loops: Record<string, unknown>; parallels: Record<string, unknown> } = {
    loops: {},
    parallels: {},
  }
  let words = 0
  const word = () => {
    words += 1
    return `text${words}`
  }
  const add = (type: string, values: Record<string, unknown>, parentId: string | undefined): string => {
    const id = `b${built.blocks.length}`
    const data = parentId === undefined ? {} : { parentId, extent: 'parent' }
    built.blocks.push(simBlock(id, type, values, { name: `Block ${id}`, data }))
    return id
  }
  const step = (parentId: string | undefined): string => {
    const kind = choices.below(6)
    if (kind === 0) {
      const tools = Array.from({ length: choices.below(3) }, () => toolOf(choices, connectors, word))
      return add('agent', { model: 'gpt-4o', userPrompt: `Say ${word()}`, apiKey: '{{KEY}}', tools }, parentId)
    }
    if (kind === 1) return add('function', { code: `return '${word()}'` }, parentId)
    if (kind === 2) return add('api', { url: `https://example.com/${word()}`, method: 'GET' }, parentId)
    const { type, values } = serviceBlock(choices, connectors, word)
    return add(type, values, parentId)
  }
  /** A chain of blocks from an exit. Returns the exit of the last one. */
  const chain = (from: string, parentId: string | undefined, depth: number): string => {
    let exit = from
    for (let left = 1 + choices.below(3); left > 0; left -= 1) {
      const isContainer = depth < 2 && choices.chance(25)
      if (isContainer) {
        const kind = choices.of(['loop', 'parallel'] as const)
        const id = add(kind, {}, parentId)
        built.edges.push(`${exit} > ${id}`)
        const before = built.blocks.length
        chain(`${id}:${kind}-start-source`, id, depth + 1)
        const nodes = built.blocks
          .slice(before)
          .filter((block) => (block['data'] as { parentId?: string }).parentId === id)
          .map((block) => block['id'])
        if (kind === 'loop') containers.loops[id] = { id, nodes, iterations: 2, loopType: 'for' }
        else containers.parallels[id] = { id, nodes, count: 2, parallelType: 'count' }
        exit = `${id}:${kind}-end-source`
      } else if (choices.chance(20)) {
        const conditions = [
          { id: `${word()}-if`, title: 'if', value: '<start.topic> === "a"' },
          { id: `${word()}-else`, title: 'else', value: '' },
        ]
        const id = add('condition', { conditions: JSON.stringify(conditions) }, parentId)
        built.edges.push(`${exit} > ${id}`)
        const otherwise = step(parentId)
        built.edges.push(`${id}:condition-${conditions[1]?.id} > ${otherwise}`)
        exit = `${id}:condition-${conditions[0]?.id}`
      } else {
        const id = step(parentId)
        built.edges.push(`${exit} > ${id}`)
        exit = id
      }
    }
    return exit
  }
  built.blocks.push(
    simBlock('start', 'start_trigger', { inputFormat: [{ name: 'topic', type: 'string' }] }, { name: 'Start' }),
  )
  chain('start', undefined, 0)
  return simFile(built.blocks, built.edges, containers)
}

function serviceBlock(choices: Choices, connectors: ReadonlyMap<string, Connector>, word: () => string) {
  const rules = choices.of(services)
  const [operation, rule] = choices.of(Object.entries(rules.operations))
  const inputs = inputsOf(rule, connectors.get(rules.connector))
  const values = inputs.map(({ id, schema }) => [id, choices.chance(30) ? '<start.topic>' : sampleFor(schema, word)])
  return { type: choices.of(rules.types), values: { ...Object.fromEntries(values), operation } }
}

function toolOf(choices: Choices, connectors: ReadonlyMap<string, Connector>, word: () => string) {
  const { type, values } = serviceBlock(choices, connectors, word)
  const params = Object.fromEntries(Object.entries(values).filter(() => choices.chance(50)))
  const { operation } = values as { operation: string }
  return { type, title: `${type} ${word()}`, operation, params, usageControl: 'auto' }
}
