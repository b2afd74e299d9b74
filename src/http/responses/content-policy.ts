/**
 * A second content security policy for a page: it loads these kinds of files only from one folder of the service.
 * Browsers enforce both policies, so together with `'self'` it allows nothing outside this folder of the page's own
 * origin. Responses of workflows have the same origin, but are in other folders.
 *
 * The policy names no host, because a service behind a proxy may not know its own. The scheme `http` includes `https`;
 * without a scheme, Firefox ignores the path.
 */
export function onlyFrom(folder: `/${string}/`, kinds: readonly ('script-src' | 'style-src')[]): string {
  return kinds.map((kind) => `${kind} http://*:*${folder}`).join('; ')
}
