/**
 * Several pages of one form: the form leads to the first approval of its run, and each answer to the next one. This tab
 * remembers what the form says at the end.
 */

export type Ending = { thanks: string | null; redirect: string | null }

const name = 'millrace.form'

/** Opens the next page. `ending`: what is shown after the last one. */
export function leadTo(url: string, ending: Ending): void {
  const { pathname } = new URL(url, location.href)
  try {
    sessionStorage.setItem(name, JSON.stringify({ ...ending, pathname }))
  } catch {
    // Without storage, the last page says its own thanks.
  }
  location.assign(pathname)
}

/** The end of the form that led to this page; undefined when none did. */
export function endingHere(): Ending | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(name) ?? 'null') as (Ending & { pathname: string }) | null
    return stored?.pathname === location.pathname ? stored : undefined
  } catch {
    return undefined
  }
}

/** Redirects to a web address. Returns false when there is none. */
export function redirectTo(url: string | null): boolean {
  if (url === null || !/^https?:\/\//i.test(url)) return false
  location.assign(url)
  return true
}
