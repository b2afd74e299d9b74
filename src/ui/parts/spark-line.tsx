/** A small bar chart of counts over time, with errors in their own colour. Screen readers read `label`. */
export function SparkLine({
  counts,
  label,
  width = 96,
  height = 20,
}: {
  counts: readonly { all: number; errors: number }[]
  label: string
  width?: number
  height?: number
}) {
  const most = Math.max(1, ...counts.map(({ all }) => all))
  const step = width / Math.max(1, counts.length)
  // A square root keeps a quiet hour visible next to a busy one.
  const tall = (count: number) => (count === 0 ? 0 : Math.max(2, Math.sqrt(count / most) * height))
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="block"
    >
      <title>{label}</title>
      <rect x={0} y={height - 1} width={width} height={1} className="fill-line" />
      {counts.map(({ all, errors }, index) => {
        const top = tall(all)
        const bad = errors === 0 ? 0 : Math.max(2, (top * errors) / all)
        const x = index * step
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: bars are identified by position
          <g key={index}>
            <rect x={x} y={height - top} width={step - 1} height={top - bad} rx={1} className="fill-accent" />
            <rect x={x} y={height - bad} width={step - 1} height={bad} rx={1} className="fill-error" />
          </g>
        )
      })}
    </svg>
  )
}
