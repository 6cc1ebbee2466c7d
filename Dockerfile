# The service without a database of its own (set DATABASE_URL); with one: --build-arg EMBEDDED_POSTGRES=true, and a volume at
# /app/.data. What this file runs is run by `npm run test:container` too, and its rules are held by test/architecture/container.spec.ts.
# The digest is that of the tag's index of platforms: a tag can be moved, a digest cannot. A new version takes both.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
ARG EMBEDDED_POSTGRES=false
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json ./console/
RUN npm ci --include=dev
COPY nest-cli.json tsconfig.json tsconfig.build.json ormconfig.ts ./
COPY scripts ./scripts
COPY clients/typescript/package.json ./clients/typescript/
COPY clients/typescript/src ./clients/typescript/src
COPY console/index.html console/tsconfig.json console/vite.config.mjs ./console/
COPY console/src ./console/src
COPY src ./src
RUN npm run build
RUN if [ "$EMBEDDED_POSTGRES" = true ]; then npm prune --omit=dev; else npm prune --omit=dev --omit=optional; fi && mkdir .data

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
LABEL org.opencontainers.image.version="0.1.0"
ENV NODE_ENV=production PORT=3000 HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/scripts/healthcheck.mjs ./scripts/
COPY --from=build /app/dist ./dist
COPY --from=build --chown=node:node /app/.data ./.data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["node", "scripts/healthcheck.mjs"]
CMD ["node", "dist/main.js"]
