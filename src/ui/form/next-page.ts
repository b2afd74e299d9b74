/**
 * Several pages of one form: the form leads to the first approval of its run, and each answer to the next one. This tab
 * remembers how the form looks, and what it says at the end.
 */

export type Leading = { thanks: string | null; redirect: string | null; accent: string | null }

/** The thanks of a form without any. */
export const formSent = 'Thank you. The form was sent.'

const name = 'millrace.form'

/** Opens the next page. */
export function leadTo(url: string, { thanks, redirect, accent }: Leading): void {
  const { pathname } = new URL(url, location.href)
  try {
    sessionStorage.setItem(name, JSON.stringify({ thanks, redirect, accent, pathname }))
  } catch {
    // Without storage, the last page says its own thanks.
  }
  location.assign(pathname)
}

/** The form that led to this page; undefined when none did. */
export function leadingHere(): Leading | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(name) ?? 'null') as (Leading & { pathname: string }) | null
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
