import { isObject } from '../../../domain/run/input.ts'
import type { PathStep } from '../../../domain/workflow/reference.ts'
import { type SimEdge, textOf } from '../../sim-document.ts'
import { FreeTexts } from '../free-texts.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import { modelParametersOf } from './models.ts'

type SimBranch = { id: string; title: string; value: unknown; more: Record<string, unknown> }

/** In Sim, the else branch is the last condition, with the title "else". */
export function mapCondition({ values }: BlockToMap): MappedBlock {
  const branches = branchesOf(values.json('conditions'))
  const otherwise = branches.findLast(({ title }) => title.trim().toLowerCase() === 'else')
  const ids = freshIds(branches.filter((branch) => branch !== otherwise))
  const conditions = [...ids].map(([{ value }, id]) => ({ id, expression: textOf(value) }))
  /** By the ID in the file, and by the short names that Sim also accepts. */
  const handles = new Map([...ids].map(([{ id }, ours]): [string, string] => [id, ours]))
  for (const [index, { id }] of conditions.entries()) {
    const short = index === 0 ? 'if' : `else-if-${index - 1}`
    if (!handles.has(short)) handles.set(short, id)
  }
  if (otherwise) handles.set(otherwise.id, 'else')
  const titles = branches.filter(({ title }, index) => {
    return !isUsualTitle(title, index === 0) && branches[index] !== otherwise
  })
  return {
    type: 'condition',
    params: { conditions },
    handle: (edge) => branchHandle(edge, 'condition-', handles),
    output: (path) => renamed(path, { conditionResult: 'result', selectedOption: 'branch', selectedPath: undefined }),
    notes: conditions.length === 0 ? ['The file has no conditions for this block. Enter at least one.'] : [],
    kept: {
      ...(otherwise ? { elseId: otherwise.id } : {}),
      ...(otherwise && textOf(otherwise.value) !== '' ? { elseValue: otherwise.value } : {}),
      ...(titles.length > 0 ? { titles: Object.fromEntries(titles.map(({ id, title }) => [id, title])) } : {}),
    },
  }
}

function isUsualTitle(title: string, isFirst: boolean): boolean {
  const usual = isFirst ? ['if', ''] : ['else if', 'elseif', '']
  return usual.includes(title.trim().toLowerCase())
}

/** Version 1 of Sim's router has one route for each edge: the model chooses the next block. */
export function mapRouter({ block, values, document }: BlockToMap): MappedBlock {
  const { params, notes } = modelParametersOf(values)
  const outgoing = document.outgoing.get(block.id) ?? []
  const targets = [...new Set(outgoing.map(({ target }) => target))]
  const ids = new Map(targets.map((target, index) => [target, shortId(target, index)]))
  const routes = targets.map((target) => ({
    id: ids.get(target)!,
    description: `Continue with ${document.blocks.get(target)?.name ?? target}.`,
  }))
  return {
    type: 'router',
    params: { ...params, prompt: values.take('prompt') ?? '', routes },
    handle: ({ target }) => `router-${ids.get(target) ?? target}`,
    output: routerOutput,
    notes,
  }
}

export function mapRouterV2({ values }: BlockToMap): MappedBlock {
  const { params, notes } = modelParametersOf(values)
  const branches = branchesOf(values.json('routes'))
  const ids = freshIds(branches)
  const routes = [...ids].map(([{ title, value }, id]) => {
    const description = [isUsualRoute(title) ? '' : title, textOf(value)]
      .filter((part) => part.trim() !== '')
      .join(': ')
    return { id, ...(description === '' ? {} : { description }) }
  })
  const handles = new Map([...ids].map(([{ id }, ours]): [string, string] => [id, ours]))
  for (const [index, { id }] of routes.entries()) if (!handles.has(`route-${index}`)) handles.set(`route-${index}`, id)
  return {
    type: 'router',
    params: { ...params, prompt: values.take('context') ?? values.take('prompt') ?? '', routes },
    handle: (edge) => branchHandle(edge, 'router-', handles),
    output: routerOutput,
    notes,
  }
}

function isUsualRoute(title: string): boolean {
  return /^\s*route\s*\d*\s*$/i.test(title)
}

function routerOutput(path: readonly PathStep[]): readonly PathStep[] | undefined {
  if (path[0] === 'selectedPath' && path[1] === 'blockId') return ['route']
  return renamed(path, { selectedRoute: 'route', selectedPath: undefined, context: undefined, prompt: undefined })
}

function branchesOf(list: unknown): SimBranch[] {
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map(({ id, title, value, ...more }) => {
    return { id: textOf(id), title: textOf(title), value, more }
  })
}

/** Gives each branch an ID that our blocks accept: its own ID if possible. */
function freshIds(branches: readonly SimBranch[]): Map<SimBranch, string> {
  const ids = new FreeTexts(['else', ''])
  return new Map(
    branches.map((branch) => {
      const wanted = branch.id.length <= 100 ? branch.id : ''
      return [branch, ids.free(wanted, (number) => `branch-${number - 1}`)]
    }),
  )
}

function branchHandle(edge: SimEdge, prefix: string, handles: ReadonlyMap<string, string>): string {
  const handle = edge.sourceHandle ?? 'source'
  const id = handle.startsWith(prefix) ? handle.slice(prefix.length) : handle
  const ours = handles.get(id)
  if (ours !== undefined) return `${prefix}${ours}`
  return id === 'else' ? `${prefix}else` : handle
}

function shortId(id: string, index: number): string {
  return id.length > 0 && id.length <= 100 ? id : `route-${index + 1}`
}

/** Renames the first step of a path. A name whose value is undefined has no counterpart. */
export function renamed(
  path: readonly PathStep[],
  names: Readonly<Record<string, string | undefined>>,
): readonly PathStep[] | undefined {
  const first = String(path[0])
  if (!Object.hasOwn(names, first)) return path
  const name = names[first]
  return name === undefined ? undefined : [name, ...path.slice(1)]
}
