import { useStore } from '@xyflow/react'
import { type RefObject, useLayoutEffect, useState } from 'react'
import type { Document } from '../../document/document.ts'
import { useDraft } from '../../editing.tsx'
import { type Box, placesOf } from '../geometry.ts'

/**
 * The distance of a question from the top of the canvas: below the blocks, else above them, so that it does not cover
 * what it asks about.
 */
export function useQuestionTop(question: RefObject<HTMLElement | null>): number {
  const document = useDraft((state) => state.document)
  const [, y, zoom] = useStore(({ transform }) => transform)
  const height = useStore((state) => state.height)
  const [own, setOwn] = useState(0)
  useLayoutEffect(() => setOwn(question.current?.offsetHeight ?? 0), [question])
  const { top, bottom } = spanOf(document)
  return questionTop({ top: top * zoom + y, bottom: bottom * zoom + y }, own, height)
}

/** All in pixels: `blocks` and the result from the top of the canvas. */
export function questionTop(blocks: { top: number; bottom: number }, own: number, height: number): number {
  const last = height - own - margin
  const [above, below] = [blocks.top - gap - own, blocks.bottom + gap]
  const free = below <= last ? below : above >= margin ? above : last
  return Math.max(margin, Math.min(free, last))
}

const margin = 12
/** Leaves room for the toolbar of a selected block. */
const gap = 48

function spanOf(document: Document): { top: number; bottom: number } {
  const boxes: Box[] = [...placesOf(document).values()]
  return {
    top: Math.min(...boxes.map((box) => box.y)),
    bottom: Math.max(...boxes.map((box) => box.y + box.height)),
  }
}
