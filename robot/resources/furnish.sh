# Fills a sandbox with files of every kind that a checkpoint has to bring back, some of them staged.
set -eu
printf 'one\ntwo\n' >edited.txt
printf 'to be deleted\n' >deleted.txt
printf 'to be renamed\n' >old-name.txt
printf 'dos\r\nlines\r\n' >crlf.txt
printf '\000\001\377\376binary' >image.bin
printf '#!/bin/sh\n' >tool.sh
chmod 755 tool.sh
ln -s edited.txt link
ln -s nowhere dangling
mkdir -p swapped "wide/näme with blank"
printf 'in a directory\n' >swapped/inside.txt
printf 'deep\n' >"wide/näme with blank/ünï ☃.txt"
printf '*.txt text eol=crlf\n' >.gitattributes
git add .
git commit -qm 'furniture'
printf 'staged\n' >staged.txt
printf 'one\nstaged two\n' >edited.txt
git add staged.txt edited.txt
printf 'one\nedited after staging\n' >edited.txt
printf 'never added\n' >untracked.txt
printf 'secret\n' >private.log
