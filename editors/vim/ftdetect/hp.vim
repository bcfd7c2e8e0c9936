" Policies of hipec.
au BufRead,BufNewFile *.hp setfiletype hp
