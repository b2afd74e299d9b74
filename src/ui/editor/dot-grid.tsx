import { useStore } from '@xyflow/react'

/**
 * The dots behind the canvas. It is a layer of its own that is shifted by less than one step, so that moving the canvas
 * draws none of them again; far away there are fewer of them, not smaller gaps.
 */
export function DotGrid() {
  const x = useStore(({ transform }) => transform[0])
  const y = useStore(({ transform }) => transform[1])
  const zoom = useStore(({ transform }) => transform[2])
  const step = stepAt(zoom)
  const size = Math.min(1.3, Math.max(0.7, zoom))
  return (
    <div
      aria-hidden="true"
      className="pointer-events-none absolute -z-1 will-change-transform"
      style={{
        inset: -step,
        backgroundImage: `radial-gradient(circle at 0 0, var(--line-strong) ${size}px, transparent ${size + 0.4}px)`,
        backgroundSize: `${step}px ${step}px`,
        transform: `translate(${x % step}px, ${y % step}px)`,
      }}
    />
  )
}

/** The distance of dots on the screen: that of two lines of the canvas, doubled until dots are apart. */
function stepAt(zoom: number): number {
  let step = 20 * zoom
  while (step < 14) step *= 2
  return step
}
