import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../parts/states.tsx'
import { useTitle } from './page.tsx'

export function NotFoundScreen() {
  useTitle('Page not found')
  return (
    <Empty
      icon={<Compass size={22} />}
      title="Page not found"
      action={
        <Link href="/" className="text-accent-text underline underline-offset-2">
          Back to workflows
        </Link>
      }
    >
      The URL may be misspelled, or the item may have been deleted.
    </Empty>
  )
}
