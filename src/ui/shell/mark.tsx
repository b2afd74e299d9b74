/** The Millrace logo. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true" className="shrink-0">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M6 12.5c3.3 0 3.3-3 6.6-3s3.4 3 6.7 3 3.4-3 6.7-3M6 18.5c3.3 0 3.3-3 6.6-3s3.4 3 6.7 3 3.4-3 6.7-3M6 24.5c3.3 0 3.3-3 6.6-3s3.4 3 6.7 3 3.4-3 6.7-3"
        strokeWidth="2.4"
        strokeLinecap="round"
        className="stroke-surface"
      />
    </svg>
  )
}
