import { LoaderCircle } from 'lucide-react'
import { classes } from './class-names.ts'

/** A loading spinner. */
export function Spinner({ size = 14, className }: { size?: number; className?: string }) {
  return <LoaderCircle size={size} aria-hidden="true" className={classes('animate-spin', className)} />
}
