import { describe, expect, test } from 'bun:test'
import { readDocument } from '../../../../src/domain/workflow/document.ts'
import { runAlike } from '../../../../src/domain/workflow/redeployment.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'

const minimal = { name: 'A workflow', blocks: {}, edges: [] }

function accepted(value: unknown): WorkflowDocument {
  const reading = readDocument(value)
  if ('details' in reading) throw new Error(JSON.stringify(reading.details))
  return reading.document
}

describe('a draft', () => {
  const deployed = accepted({
    ...minimal,
    blocks: {
      t: { type: 'api_trigger', name: 'Start', params: { inputFormat: [{ name: 'n', type: 'number', value: 1 }] } },
      w: { type: 'wait', name: 'Wait', params: { ms: 5 } },
    },
    edges: [
      { source: 't', target: 'w' },
      { source: 'w', target: 't', sourceHandle: 'error' },
    ],
    loops: { l: { loopType: 'for', nodes: ['a', 'b'] } },
  })
  const change = (edit: (draft: WorkflowDocument) => void) => {
    const draft = structuredClone(deployed)
    edit(draft)
    return runAlike(draft, deployed)
  }

  test('needs no deployment when positions, samples, descriptions, webhooks or the order of members change', () => {
    expect(change((draft) => Object.assign(draft.blocks['t']!, { position: { x: 9, y: 9 } }))).toBe(true)
    expect(
      change((draft) => {
        draft.blocks['t']!.params = { inputFormat: [{ name: 'n', type: 'number', value: 2 }] }
      }),
    ).toBe(true)
    expect(
      change((draft) => Object.assign(draft, { description: 'x', folder: 'y', webhooks: [{ url: 'https://x' }] })),
    ).toBe(true)
    expect(change((draft) => draft.edges.reverse())).toBe(true)
    expect(change((draft) => Object.assign(draft.edges[0]!, { id: 'other', sourceHandle: 'source' }))).toBe(true)
    expect(change((draft) => draft.loops!['l']!.nodes!.reverse())).toBe(true)
  })

  test('needs no deployment when blocks name their container instead of being listed by it', () => {
    const listed = accepted({
      ...minimal,
      blocks: { l: { type: 'loop', name: 'Loop' }, a: { type: 'wait', name: 'A' }, b: { type: 'wait', name: 'B' } },
      loops: { l: { loopType: 'for', nodes: ['a', 'b'] } },
    })
    const named = structuredClone(listed)
    Object.assign(named.blocks['a']!, { parentId: 'l' })
    Object.assign(named.blocks['b']!, { parentId: 'l' })
    expect(runAlike(named, listed)).toBe(true)
    named.loops!['l']!.nodes = ['b']
    expect(runAlike(named, listed)).toBe(true)
    named.loops!['l']!.nodes = []
    expect(runAlike(named, listed)).toBe(true)
    delete named.blocks['a']!.parentId
    expect(runAlike(named, listed)).toBe(false)
    expect(runAlike({ ...listed, loops: { l: { loopType: 'for', nodes: ['a', 'b', 'c'] } } }, listed)).toBe(false)
  })

  test('needs a deployment when anything that affects a run changes', () => {
    expect(change((draft) => Object.assign(draft.blocks['w']!, { name: 'Pause' }))).toBe(false)
    expect(change((draft) => Object.assign(draft.blocks['w']!, { enabled: false }))).toBe(false)
    expect(change((draft) => Object.assign(draft.blocks['w']!.params!, { ms: 6 }))).toBe(false)
    expect(
      change((draft) => {
        draft.blocks['t']!.params = { inputFormat: [{ name: 'm', type: 'number', value: 1 }] }
      }),
    ).toBe(false)
    expect(change((draft) => draft.edges.pop())).toBe(false)
    expect(change((draft) => Object.assign(draft.loops!['l']!, { iterations: 3 }))).toBe(false)
    expect(change((draft) => Object.assign(draft, { variables: { v: { value: 1 } } }))).toBe(false)
    expect(change((draft) => Object.assign(draft, { limits: { timeoutMs: 5 } }))).toBe(false)
    expect(change((draft) => Object.assign(draft, { limits: {} }))).toBe(true)
  })
})
