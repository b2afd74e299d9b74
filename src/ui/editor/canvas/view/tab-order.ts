import { useReactFlow } from '@xyflow/react'
import { useEffect } from 'react'
import { useEditing } from '../../editing.tsx'
import type { CanvasNode } from '../canvas-nodes.ts'
import { focusNode, nodeElement, revealNode } from './show-node.ts'

/**
 * `Tab` moves through all blocks and notes, though only those in view are drawn: it brings the next one into view. It
 * continues from a block that had the focus when it left the view.
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
      const { key, shiftKey, target, defaultPrevented } = event
      const isLost = document.activeElement === document.body && last !== undefined && !nodeElement(last)
      const isNode = target instanceof Element && target.matches('.react-flow__node')
      if (key !== 'Tab' || defaultPrevented || last === undefined || !(isNode || isLost)) return
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

function idOf(node: Element): string | undefined {
  return node.getAttribute('data-id') ?? undefined
}
