import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../parts/states.tsx'
import { useTitle } from './page.tsx'

export function NotFoundScreen() {
  useTitle('Not found')
  return (
    <Empty
      icon={<Compass size={22} />}
      title="There is nothing here"
      action={
        <Link href="/" className="text-accent-text underline underline-offset-2">
          Back to the workflows
        </Link>
      }
    >
      The address may be misspelt, or what it named was deleted.
    </Empty>
  )
}
