/**
 * Several pages of one form: the form leads to the first approval of its run, and each answer to the next one. The tab
 * remembers the colour, the thanks and the redirect of the form.
 */

export type Leading = { thanks: string | null; redirect: string | null; accent: string | null }

/** The thanks of a form that sets none. */
export const formSent = 'Thank you. The form was sent.'

const name = 'millrace.form'

/** Opens the next page. */
export function leadTo(url: string, { thanks, redirect, accent }: Leading): void {
  const { pathname } = new URL(url, location.href)
  try {
    sessionStorage.setItem(name, JSON.stringify({ thanks, redirect, accent, pathname }))
  } catch {
    // Without storage, the last page shows its own text.
  }
  location.assign(pathname)
}

/** The form that led to this page; undefined if there is none. */
export function leadingHere(): Leading | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(name) ?? 'null') as (Leading & { pathname: string }) | null
    return stored?.pathname === location.pathname ? stored : undefined
  } catch {
    return undefined
  }
}

/** Opens a web address. Returns false without a valid one. */
export function redirectTo(url: string | null): boolean {
  if (url === null || !/^https?:\/\//i.test(url)) return false
  location.assign(url)
  return true
}
