import { Cable, Pin, PinOff, Play, Plus, SkipForward, StepForward } from 'lucide-react'
import { allKeysOf } from '../../../shell/palette/key-table.ts'
import { nextPort } from '../../document/new-block.ts'
import type { ActionContext, EditorAction } from './editor-action.ts'

/** The actions on one selected block. */
export function oneBlockActions({ actions, runs, state, onOffer, onConnect, pinOf }: ActionContext): EditorAction[] {
  const { document, selected } = state
  const [id, ...others] = selected
  const block = id === undefined || others.length > 0 ? undefined : document.blocks[id]
  if (!block) return []
  const from = nextPort(document, block)
  const isInside = from?.sourceHandle.endsWith('-start-source')
  const next: EditorAction[] = from
    ? [
        {
          id: 'next',
          label: isInside ? 'Add first block inside…' : 'Add next block…',
          group: 'add',
          icon: Plus,
          keys: allKeysOf('add-block'),
          on: ['blocks'],
          run: () => onOffer(actions.nextPlace(false)),
        },
      ]
    : []
  const pin = pinOf(block.id)
  return [
    ...(pin
      ? [
          {
            ...{ id: 'pin', label: pin.isPinned ? 'Unpin output' : 'Pin output', group: 'run' as const },
            ...{
              icon: pin.isPinned ? PinOff : Pin,
              keys: allKeysOf('pin'),
              words: 'mock hold keep',
              on: ['blocks' as const],
            },
            run: pin.toggle,
          },
        ]
      : []),
    ...next,
    {
      id: 'connect',
      label: 'Connect to…',
      group: 'add',
      icon: Cable,
      keys: allKeysOf('connect'),
      words: 'edge link this block',
      on: ['blocks'],
      run: () => onConnect(block.id),
    },
    {
      id: 'run-only',
      label: 'Run only this block',
      group: 'run',
      icon: Play,
      on: ['blocks'],
      run: () => void runs.runOnly(block.id),
    },
    {
      id: 'run-until',
      label: 'Run up to this block',
      group: 'run',
      icon: SkipForward,
      on: ['blocks'],
      run: () => void runs.runUntil(block.id),
    },
    {
      id: 'run-from',
      label: 'Run from this block',
      group: 'run',
      icon: StepForward,
      on: ['blocks'],
      run: () => void runs.runFrom(block.id),
    },
  ]
}
