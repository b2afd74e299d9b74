import { useReactFlow } from '@xyflow/react'
import { useEffect } from 'react'
import type { Document } from '../../document/document.ts'
import { useEditing } from '../../editing.tsx'
import type { CanvasNode } from '../canvas-nodes.ts'
import { focusNode, nodeElement, revealNode } from './show-node.ts'

/**
 * `Tab` moves through all blocks and notes, though only those in view are drawn: it brings the next one into view. It
 * continues from a block that had the focus when it left the view. After a block come the lines that leave it.
 */
export function useTabOrder(): void {
  const { draft } = useEditing()
  const flow = useReactFlow<CanvasNode>()
  useEffect(() => {
    let last: string | undefined
    const onFocus = ({ target }: FocusEvent) => {
      last = target instanceof Element && target.matches('.react-flow__node') ? idOf(target) : undefined
    }
    const onPointer = () => {
      last = undefined
    }
    const onKey = (event: KeyboardEvent) => {
      const { key, shiftKey, defaultPrevented } = event
      if (key !== 'Tab' || defaultPrevented || moveAlongLines(event, draft.state().document)) return
      const isLost = document.activeElement === document.body && last !== undefined && !nodeElement(last)
      const isNode = document.activeElement?.matches('.react-flow__node')
      if (last === undefined || !(isNode || isLost)) return
      const ids = flow.getNodes().map(({ id }) => id)
      const at = ids.indexOf(last)
      const next = at === -1 ? undefined : ids[at + (shiftKey ? -1 : 1)]
      // The browser moves on to a node that is drawn.
      if (next === undefined || (isNode && nodeElement(next))) return
      event.preventDefault()
      revealNode(flow, () => draft.state().document, next)
      focusNode(next)
    }
    document.addEventListener('focusin', onFocus)
    document.addEventListener('pointerdown', onPointer)
    document.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('pointerdown', onPointer)
      document.removeEventListener('keydown', onKey)
    }
  }, [draft, flow])
}

/**
 * Moves between a block and the lines that leave it. Returns whether the key is used up: after the last line, the
 * browser moves on from the block.
 */
function moveAlongLines(event: KeyboardEvent, { edges }: Document): boolean {
  const { target, shiftKey } = event
  if (!(target instanceof HTMLElement || target instanceof SVGElement)) return false
  const isLine = target.matches('.react-flow__edge')
  if (!isLine && !(target.matches('.react-flow__node') && !shiftKey)) return false
  const current = isLine ? edges.find(({ id }) => id === idOf(target))?.source : idOf(target)
  const lines = edges.flatMap(({ id, source }) => (source === current && id ? (lineElement(id) ?? []) : []))
  const stops = [current === undefined ? undefined : nodeElement(current), ...lines]
  const next = stops[stops.indexOf(target) + (shiftKey ? -1 : 1)]
  if (next === undefined) {
    if (isLine) stops[0]?.focus({ preventScroll: true })
    return false
  }
  event.preventDefault()
  next.focus({ preventScroll: true })
  return true
}

function lineElement(id: string): SVGElement | undefined {
  return document.querySelector<SVGElement>(`.react-flow__edge[data-id="${CSS.escape(id)}"]`) ?? undefined
}

function idOf(node: Element): string | undefined {
  return node.getAttribute('data-id') ?? undefined
}
