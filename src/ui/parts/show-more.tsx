import { Button } from './button.tsx'

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }

/** The button below a list that loads its next page. Nothing when there is none. */
export function ShowMore({ of, children = 'Show more' }: { of: Pages; children?: string }) {
  if (!of.hasNextPage) return null
  return (
    <Button className="mx-auto mt-3" look="quiet" busy={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
      {children}
    </Button>
  )
}
