import { createHash } from 'node:crypto'
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { onlyFrom } from '../responses/content-policy.ts'

/** A file of the page, read on the first request. */
export type PageFile = { type: string; load: () => Promise<Uint8Array<ArrayBuffer>> }

/**
 * The files of the page that shows the OpenAPI document, by path. The executable contains all of them: the page works
 * without internet, and its content security policy allows nothing else.
 */
export const pageFiles: Record<string, PageFile> = {
  '/swagger': { type: 'text/html; charset=utf-8', load: async () => encode(html) },
  '/swagger/start.js': { type: 'text/javascript; charset=utf-8', load: async () => encode(start) },
  '/swagger/swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', load: () => read(bundlePath) },
  '/swagger/swagger-ui.css': { type: 'text/css; charset=utf-8', load: () => read(stylePath) },
}

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/swagger/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"><noscript>This page needs JavaScript. The document itself is at <a href="/swagger/json">/swagger/json</a>.</noscript></div>
<script src="/swagger/swagger-ui-bundle.js"></script>
<script src="/swagger/start.js"></script>
</body>
</html>
`

// validatorUrl: by default the page would send the document to a validator on the internet.
const start = `SwaggerUIBundle({
  url: '/swagger/json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
})
`

/** The page may load its own files and call this service, nothing else. */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none', ${onlyFrom('/swagger/', ['script-src'])}`

export type EncodedFile = { body: Uint8Array<ArrayBuffer>; gzipped: Uint8Array<ArrayBuffer>; etag: string }

export async function encodeFile(file: PageFile): Promise<EncodedFile> {
  const body = await file.load()
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { body, gzipped: Bun.gzipSync(body), etag }
}

async function read(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return Bun.file(path).bytes()
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text))
}
