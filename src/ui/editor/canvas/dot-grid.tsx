import { useStore } from '@xyflow/react'

/**
 * The dots behind the canvas. The layer is shifted by less than one step, so that panning redraws nothing. When zoomed
 * out, there are fewer dots instead of smaller gaps.
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
        backgroundImage: `radial-gradient(circle at 0 0, var(--dot) ${size}px, transparent ${size + 0.4}px)`,
        backgroundSize: `${step}px ${step}px`,
        transform: `translate(${x % step}px, ${y % step}px)`,
      }}
    />
  )
}

/** The distance between dots on the screen: two grid lines, doubled until the dots are far enough apart. */
function stepAt(zoom: number): number {
  let step = 20 * zoom
  while (step < 14) step *= 2
  return step
}
