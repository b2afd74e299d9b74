import { ChevronRight } from 'lucide-react'
import { Fragment, type ReactNode, useEffect } from 'react'
import { Link } from 'wouter'

export type Crumb = { label: string; href?: string }

/** The layout of a screen: breadcrumbs, title, actions and content. */
export function Page({
  title,
  crumbs = [],
  actions,
  children,
}: {
  title: string
  /** The breadcrumbs before the title. */
  crumbs?: readonly Crumb[]
  actions?: ReactNode
  children: ReactNode
}) {
  useTitle(title)
  return (
    <>
      <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2 md:px-6">
        <Crumbs crumbs={crumbs} title={title} />
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/**
 * The scrolling part of a screen. On every screen, the content starts below the breadcrumbs and has the same greatest
 * width.
 */
export function PageBody({ children, label }: { children: ReactNode; label?: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 min-w-0 flex-1 overflow-y-auto -outline-offset-2"
    >
      <div className="flex min-h-full w-full max-w-280 flex-col px-4 py-5 md:px-6">{children}</div>
    </section>
  )
}

export function Crumbs({ crumbs, title }: { crumbs: readonly Crumb[]; title: ReactNode }) {
  return (
    <nav aria-label="Breadcrumbs" className="flex min-w-24 flex-1 max-md:min-w-16 items-center gap-1 text-sm">
      {crumbs.map(({ label, href }) => (
        <Fragment key={label}>
          {href ? (
            <Link href={href} className="truncate rounded-sm text-muted hover:text-text max-md:hidden">
              {label}
            </Link>
          ) : (
            <span className="truncate text-muted max-md:hidden">{label}</span>
          )}
          <ChevronRight size={14} className="shrink-0 text-muted max-md:hidden" aria-hidden="true" />
        </Fragment>
      ))}
      {typeof title === 'string' ? <h1 className="truncate font-semibold">{title}</h1> : title}
    </nav>
  )
}

/** Sets the title of the browser tab while the caller is mounted. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Millrace`
    return () => {
      document.title = 'Millrace'
    }
  }, [title])
}
