import fc from 'fast-check'
import type { Block, Loop, Parallel, Variable, WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../support/make.ts'

/** A piece of a workflow: blocks between one entry and its exits. */
export type Piece =
  | { kind: 'call'; fails: 'no' | 'edge' | 'continue' | 'stop'; seed: number }
  | { kind: 'set'; seed: number }
  | { kind: 'choose'; seed: number; yes: Piece[]; no: Piece[] }
  | { kind: 'fork'; ways: Piece[][]; joins: boolean }
  | { kind: 'loop'; type: 'for' | 'forEach' | 'while'; times: number; goesOn: boolean; body: Piece[] }
  | { kind: 'parallel'; type: 'count' | 'collection'; times: number; goesOn: boolean; body: Piece[] }
  | { kind: 'answer' }

const seed = fc.nat(1_000)
const { pieces } = fc.letrec<{ piece: Piece; pieces: Piece[] }>((tie) => ({
  pieces: fc.array(tie('piece'), { minLength: 1, maxLength: 3, depthIdentifier: 'p' }),
  piece: fc.oneof(
    { depthIdentifier: 'p', maxDepth: 3, depthSize: 'small' },
    fc.record({
      kind: fc.constant('call' as const),
      fails: fc.constantFrom(...(['no', 'no', 'no', 'edge', 'continue', 'stop'] as const)),
      seed,
    }),
    fc.record({ kind: fc.constant('set' as const), seed }),
    fc.record({ kind: fc.constant('choose' as const), seed, yes: tie('pieces'), no: tie('pieces') }),
    fc.record({
      kind: fc.constant('fork' as const),
      ways: fc.array(tie('pieces'), { minLength: 2, maxLength: 3 }),
      joins: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('loop' as const),
      type: fc.constantFrom('for' as const, 'forEach' as const, 'while' as const),
      times: fc.nat(3),
      goesOn: fc.boolean(),
      body: tie('pieces'),
    }),
    fc.record({
      kind: fc.constant('parallel' as const),
      type: fc.constantFrom('count' as const, 'collection' as const),
      times: fc.nat(3),
      goesOn: fc.boolean(),
      body: tie('pieces'),
    }),
  ),
}))

/** Workflows of any shape with deterministic blocks. */
export const workflows: fc.Arbitrary<WorkflowDocument> = fc
  .tuple(pieces, fc.boolean())
  .map(([list, responses]) => documentOf(responses ? [...list, { kind: 'answer' }] : list))

/**
 * The blocks that a piece may read, and whether others run at the same time. When several blocks fail a run at once,
 * their order is random. So failing blocks run alone, or where only an iteration fails.
 */
type Here = { parentId: string | undefined; readable: readonly string[]; isAtOnce: boolean; mayFail: boolean }

function documentOf(list: readonly Piece[]): WorkflowDocument {
  const blocks: Block[] = [block('start', 'api_trigger')]
  const edges: string[] = []
  const loops: Record<string, Loop> = {}
  const parallels: Record<string, Parallel> = {}
  const variables: Record<string, Variable> = {}
  let count = 0

  function add(type: string, here: Here, from: readonly string[], params: Record<string, unknown> = {}): string {
    count += 1
    const id = `b${count}`
    blocks.push(block(id, type, params, here.parentId === undefined ? {} : { parentId: here.parentId }))
    for (const source of from) edges.push(`${source} > ${id}`)
    return id
  }

  /** Adds pieces in sequence. Returns the exits, and the blocks that later ones may read. */
  function chain(pieces: readonly Piece[], here: Here, from: readonly string[]): { out: string[]; here: Here } {
    let out = [...from]
    let current = here
    for (const each of pieces) ({ out, here: current } = one(each, current, out))
    return { out, here: current }
  }

  function one(each: Piece, here: Here, from: readonly string[]): { out: string[]; here: Here } {
    const reading = (more: string) => ({ ...here, readable: [...here.readable, more] })
    const read = (at: number) => here.readable[at % here.readable.length] as string
    switch (each.kind) {
      case 'call': {
        const fails = each.fails === 'stop' && !here.mayFail ? 'no' : each.fails
        const path = fails === 'no' ? '' : '/fails'
        const id = add('api', here, from, {
          url: `http://example.org/b${count + 1}/${read(each.seed)}/${read(each.seed * 7 + 1)}${path}`,
          retries: 0,
          onError: fails === 'continue' ? 'continue' : 'stop',
        })
        if (fails !== 'edge') return { out: [id], here: reading(`<${id}.data.path>`) }
        const recovered = add('api', here, [`${id}:error`, id], {
          url: `http://example.org/<${id}.error.code>`,
          retries: 0,
        })
        return { out: [recovered], here: reading(`<${id}.data.path>`) }
      }
      case 'set': {
        const name = `v${count + 1}`
        // Two blocks that write at the same time would not be deterministic.
        if (here.isAtOnce) return one({ kind: 'call', fails: 'no', seed: each.seed }, here, from)
        variables[name] = { value: `${name} at first` }
        const value = `${read(each.seed)} <variable.${name}>`
        add('variables', here, from, { assign: [{ name, value: `<variable.${name}>` }] })
        const id = add('variables', here, [`b${count}`], { assign: [{ name, value: value.slice(0, 100) }] })
        return { out: [id], here: reading(`<variable.${name}>`) }
      }
      case 'choose': {
        const expression = `(${read(each.seed)} ?? '').length % 2 === 0`
        const id = add('condition', here, from, { conditions: [{ id: 'even', expression }] })
        const yes = chain(each.yes, here, [`${id}:condition-even`])
        const no = chain(each.no, here, [`${id}:condition-else`])
        return { out: [...yes.out, ...no.out], here: { ...here, readable: yes.here.readable } }
      }
      case 'fork': {
        const inner = { ...here, isAtOnce: true, mayFail: false }
        const ends = each.ways.map((way) => chain(way, inner, from))
        const out = ends.flatMap(({ out }) => out)
        // A block that runs in parallel may or may not have outputs by then.
        if (!each.joins) return { out: ends[0]?.out ?? [], here: { ...inner, readable: ends[0]?.here.readable ?? [] } }
        const readable = [...new Set(ends.flatMap((end) => end.here.readable))]
        const id = add('api', { ...here, readable }, out, {
          url: `http://example.org/join/${readable.at(-1)}`,
          retries: 0,
        })
        return { out: [id], here: { ...here, readable: [...readable, `<${id}.data.path>`] } }
      }
      case 'loop': {
        const id = add('loop', here, from)
        const readable = [...here.readable, '<loop.index>', '<loop.currentItem>']
        const body = { ...here, parentId: id, readable, mayFail: here.mayFail || each.goesOn }
        chain(each.body, body, [`${id}:loop-start-source`])
        const onError = each.goesOn ? 'continue' : 'stop'
        const items = Array.from({ length: each.times }, (_, index) => `item ${index}`)
        loops[id] =
          each.type === 'for'
            ? { loopType: 'for', iterations: each.times, onError }
            : each.type === 'forEach'
              ? { loopType: 'forEach', forEachItems: items, onError }
              : { loopType: 'while', condition: `<loop.index> < ${each.times}`, onError }
        return { out: [`${id}:loop-end-source`], here: reading(`<${id}.results>`) }
      }
      case 'parallel': {
        const id = add('parallel', here, from)
        const readable = [...here.readable, '<parallel.index>', '<parallel.currentItem>']
        chain(each.body, { parentId: id, readable, isAtOnce: true, mayFail: each.goesOn }, [
          `${id}:parallel-start-source`,
        ])
        const onError = each.goesOn ? 'continue' : 'stop'
        const items = Object.fromEntries(Array.from({ length: each.times }, (_, index) => [`k${index}`, index]))
        parallels[id] =
          each.type === 'count'
            ? { parallelType: 'count', count: each.times, onError }
            : { parallelType: 'collection', distribution: items, onError }
        return { out: [`${id}:parallel-end-source`], here: reading(`<${id}.results>`) }
      }
      case 'answer': {
        const id = add('response', here, from, { data: { last: here.readable.at(-1), first: here.readable[1] ?? '' } })
        return { out: [id], here }
      }
    }
  }

  chain(list, { parentId: undefined, readable: ['<api.input.text>'], isAtOnce: false, mayFail: true }, ['start'])
  return document({ name: 'Random', blocks, edges, loops, parallels, variables })
}
