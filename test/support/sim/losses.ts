import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'

type Members = Record<string, unknown>

/**
 * Everything in a workflow file of Sim that an imported document does not contain: blocks, connections, positions,
 * containers, variables and texts. It does not use the importer's code. `notes`: of the report, which name old names.
 */
export function lossesOf(file: unknown, document: WorkflowDocument, notes: readonly string[]): string[] {
  const state = objectIn(objectIn(file)['state'] ?? file)
  const blocks = Object.entries(objectIn(state['blocks']))
  return [
    ...blocks.flatMap(([id, block]) => lostBlock(id, objectIn(block), document)),
    ...lostEdges(state['edges'], document),
    ...lostContainers(state, document),
    ...lostTexts(file, { document, notes }),
  ]
}

function lostBlock(id: string, block: Members, document: WorkflowDocument): string[] {
  const isNote = block['type'] === 'note'
  const found = isNote ? document.notes?.[id] : document.blocks[id]
  if (!found) return [`the ${String(block['type'])} block ${id}`]
  const losses: string[] = []
  const { x, y } = objectIn(block['position'])
  if (typeof x === 'number' && (found.position?.x !== x || found.position.y !== y)) losses.push(`the position of ${id}`)
  if (isNote) return losses
  const ours = document.blocks[id]
  if ((block['enabled'] !== false) !== ours?.enabled) losses.push(`whether ${id} is enabled`)
  const parentId = objectIn(block['data'])['parentId']
  const parent = typeof parentId === 'string' ? document.blocks[parentId] : undefined
  const isInside = parent?.type === 'loop' || parent?.type === 'parallel'
  if (isInside && ours?.parentId !== parentId) losses.push(`the container of ${id}`)
  return losses
}

function lostEdges(edges: unknown, document: WorkflowDocument): string[] {
  const kept = JSON.stringify(document.origin?.values?.['edges'] ?? [])
  return (Array.isArray(edges) ? edges : []).flatMap((each): string[] => {
    const { id, source, target } = objectIn(each)
    const name = `the connection from ${String(source)} to ${String(target)}`
    const found = document.edges.find((edge) => edge.target === target && comesFrom(edge.source, source, document))
    if (found) return []
    return kept.includes(JSON.stringify(id)) && kept.includes(JSON.stringify(target)) ? [] : [name]
  })
}

/** A block of the file may have become several blocks in a row. */
function comesFrom(last: string, first: unknown, { edges }: WorkflowDocument): boolean {
  for (let at: string | undefined = last, steps = 0; at !== undefined && steps < 5; steps += 1) {
    if (at === first) return true
    if (!at.startsWith(String(first))) return false
    at = edges.find(({ target }) => target === at)?.source
  }
  return false
}

function lostContainers(state: Members, document: WorkflowDocument): string[] {
  return (['loops', 'parallels'] as const).flatMap((kind) =>
    Object.entries(objectIn(state[kind])).flatMap(([id, container]) => {
      const found = document[kind]?.[id] ?? objectIn(document.origin?.values?.[kind])[id]
      if (!found) return [`the settings of ${id} in ${kind}`]
      const nodes = objectIn(container)['nodes']
      const missing = (Array.isArray(nodes) ? nodes : []).filter((node) => {
        const block = document.blocks[String(node)]
        return block !== undefined && document.blocks[id] !== undefined && block.parentId === undefined
      })
      return missing.map((node) => `that ${String(node)} is in ${id}`)
    }),
  )
}

/** Members whose texts only the editor of Sim needs, and texts that become something else: roles, types and times. */
const uninteresting = new Set([
  ...['id', 'type', 'role', 'outputs', 'layout', 'collapsed', 'isExpanded', 'method', 'dataMode', 'operationId'],
  ...['scheduleType', 'minutesInterval', 'hourlyMinute', 'dailyTime', 'weeklyDay', 'weeklyDayTime', 'monthlyDay'],
  ...['monthlyTime', 'startWorkflow', 'timeUnit', 'timeUnitLong', 'async', 'responseMode', 'requireAuth', 'format'],
  ...[
    'exportedAt',
    'version',
    'width',
    'extent',
    'memoryType',
    'loopType',
    'parallelType',
    'height',
    'isWide',
    'horizontalHandles',
  ],
  ...[
    'source',
    'target',
    'sourceHandle',
    'targetHandle',
    'model',
    'parentId',
    'color',
    'advancedMode',
    'canonicalModes',
    'edges',
  ],
])

/** Titles that follow from the order of branches. */
const usualTitle = /^(?:if|else if|else|route \d+|note \d+)$/i

function lostTexts(file: unknown, result: { document: WorkflowDocument; notes: readonly string[] }): string[] {
  const ours = [...textsIn(result, new Set(), true)].join('\u0000')
  const plain = ours.replaceAll(reference, '\u0001')
  const losses = new Set<string>()
  for (const text of textsIn(file, uninteresting, false)) {
    if (usualTitle.test(text.trim())) continue
    for (const piece of text.split(reference)) {
      const trimmed = piece.trim()
      if (trimmed !== '' && !ours.includes(trimmed) && !plain.includes(trimmed)) losses.add(`the text "${trimmed}"`)
    }
  }
  return [...losses]
}

const reference = /<[^<>\n]*>/g

/** All texts and numbers in a value, JSON inside texts included. `withNames`: names of members too. */
function* textsIn(value: unknown, skipped: ReadonlySet<string>, withNames: boolean): Generator<string> {
  if (typeof value === 'number' || (withNames && typeof value === 'boolean')) yield String(value)
  else if (typeof value === 'string') {
    const inner = /^\s*[[{]/.test(value) ? parsed(value) : undefined
    if (typeof inner === 'object' && inner !== null) yield* textsIn(inner, skipped, withNames)
    else yield value
    if (withNames) yield value
  } else if (Array.isArray(value)) for (const item of value) yield* textsIn(item, skipped, withNames)
  else {
    for (const [name, member] of Object.entries(objectIn(value))) {
      if (withNames) yield name
      if (!skipped.has(name)) yield* textsIn(member, skipped, withNames)
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function objectIn(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}
