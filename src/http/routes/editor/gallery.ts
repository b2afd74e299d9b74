import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { localAddress } from '../../../domain/local-address.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { Door } from '../../access/door.ts'
import { galleryCategories, galleryOf } from '../../gallery.ts'
import { editorRoute } from '../../openapi/route.ts'
import { listOf } from '../../responses/schema-parts.ts'

const GalleryItem = t.Object({
  id: t.String(),
  category: oneOf(galleryCategories),
  document: WorkflowDocument,
  needs: t.Array(t.Object({ name: t.String(), meaning: t.String() }), {
    description: 'The environment variables to set before it runs.',
  }),
})

/** The ready workflows that a person can start from. */
export function galleryRoutes(door: Door) {
  return new Elysia().get(
    '/gallery',
    async ({ request, set, server }) => {
      await door.requireSession(request, set)
      return { data: galleryOf(localAddress(server?.hostname ?? '127.0.0.1', server?.port ?? 0)) }
    },
    editorRoute({
      name: 'listGallery',
      summary: 'List ready workflows to start from',
      responses: { 200: listOf(GalleryItem) },
    }),
  )
}
