# What an agent that went wrong leaves behind: every kind of change, a commit, and broken rules.
set -eu
printf 'ruined\n' >edited.txt
rm deleted.txt untracked.txt
git mv old-name.txt new-name.txt
printf 'dos\nlines\n' >crlf.txt
printf 'text' >image.bin
chmod 644 tool.sh
chmod 755 staged.txt
ln -sfn image.bin link
rm dangling
printf 'now a file\n' >dangling
rm -r swapped
ln -s wide swapped
mv "wide/näme with blank" wide/elsewhere
git add -A
git commit -qm 'all better now'
printf 'staged mess\n' >mess.txt
git add mess.txt
printf 'no rule is left\n' >.gitignore
